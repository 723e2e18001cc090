package fetch_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/sources/fetch"
)

func TestWhatIsKnownIsNotSentAgain(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	version, date := `"v1"`, "Sun, 01 Mar 2026 12:00:00 GMT"
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, strings.Join(slices.Concat([]string{r.Method}, r.Header["If-None-Match"], r.Header["If-Modified-Since"]), " "))
		if r.URL.Path == "/only-date" {
			w.Header().Set("Last-Modified", date)
		} else {
			w.Header().Set("ETag", version)
			w.Header().Set("Last-Modified", date)
		}
		if r.Header.Get("If-None-Match") == version || r.Header.Get("If-None-Match") == "" && r.Header.Get("If-Modified-Since") == date {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, "1")
	})
	c, _ := client(t, fetch.Options{})
	fetchOf := func(d *fetch.Declaration, known *fetch.Validators) fetch.Value {
		t.Helper()
		v, err := c.Fetch(t.Context(), d, known)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	d := declared(t, fmt.Sprintf("{id: a, type: http, url: %q, format: json}", server.URL))
	first := fetchOf(d, nil)
	again := fetchOf(d, &first.Validators)
	if string(first.JSON) != "1" || first.NotModified || again.JSON != nil || !again.NotModified || again.Validators != first.Validators {
		t.Errorf("got %+v and %+v", first, again)
	}
	version = `"v2"`
	changed := fetchOf(d, &first.Validators)
	if string(changed.JSON) != "1" || changed.NotModified || changed.Validators.ETag != version {
		t.Errorf("a new version: got %+v", changed)
	}
	dated := declared(t, fmt.Sprintf("{id: a, type: http, url: %q, format: json}", server.URL+"/only-date"))
	if v := fetchOf(dated, &fetch.Validators{LastModified: date}); !v.NotModified || v.Validators != (fetch.Validators{LastModified: date}) {
		t.Errorf("a date: got %+v", v)
	}
	if v := fetchOf(d, &fetch.Validators{}); v.NotModified {
		t.Errorf("nothing known: got %+v", v)
	}
	posted := declared(t, fmt.Sprintf("{id: a, type: http, url: %q, format: json, body: x}", server.URL))
	if v := fetchOf(posted, &changed.Validators); v.NotModified {
		t.Errorf("a POST: got %+v", v)
	}
	own := declared(t, fmt.Sprintf(`{id: a, type: http, url: %q, format: json, headers: {if-none-match: '"v2"'}}`, server.URL))
	if _, err := c.Fetch(t.Context(), own, &changed.Validators); !fails(t, err, "Fetch|HTTP 304 Not Modified") {
		t.Errorf("a condition of the declaration: got %v", err)
	}
	want := []string{"GET", `GET "v1" ` + date, `GET "v1" ` + date, "GET " + date, "GET", "POST", `GET "v2"`}
	if !slices.Equal(asked, want) {
		t.Errorf("asked\n%q, want\n%q", asked, want)
	}
}

func TestValidatorsOfAnotherServerAreNotKept(t *testing.T) {
	other := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("ETag", `"theirs"`)
		fmt.Fprint(w, "1")
	})
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) })
	c, _ := client(t, fetch.Options{})
	v, err := c.Fetch(t.Context(), declared(t, fmt.Sprintf("{id: a, type: http, url: %q, format: json}", server.URL)), nil)
	if string(v.JSON) != "1" || v.Validators != (fetch.Validators{}) || err != nil {
		t.Errorf("got %+v, %v", v, err)
	}
}
