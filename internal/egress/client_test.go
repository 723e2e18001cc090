package egress

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/http/httpproxy"

	"github.com/sluicehq/sluice/internal/response"
)

// visits records the requests that servers get.
type visits struct {
	mu   sync.Mutex
	list []string
}

// add records a request: where, how and with what of what was configured.
func (v *visits) add(server string, r *http.Request) {
	var with []string
	for _, name := range []string{"Authorization", "Cookie", "X-Token", "Content-Type", "Referer", "User-Agent"} {
		if value := r.Header.Get(name); value != "" {
			with = append(with, name+"="+value)
		}
	}
	body := make([]byte, 64)
	n, _ := r.Body.Read(body)
	if n > 0 {
		with = append(with, "body="+string(body[:n]))
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.list = append(v.list, server+" "+r.Method+" "+r.URL.Path+" "+strings.Join(with, " "))
}

func (v *visits) take() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	list := v.list
	v.list = nil
	return list
}

// pair is two servers whose paths redirect: /<status>/<where>/<rest> redirects with that
// status to /<rest> of server a or b; any other path is the end.
func pair(t *testing.T, v *visits) (a, b *httptest.Server) {
	t.Helper()
	var servers [2]*httptest.Server
	for i, name := range []string{"a", "b"} {
		servers[i] = serve(t, func(w http.ResponseWriter, r *http.Request) {
			v.add(name, r)
			var status int
			var where, rest string
			if n, _ := fmt.Sscanf(r.URL.Path, "/%d/%1s/%s", &status, &where, &rest); n < 2 {
				fmt.Fprint(w, "the end")
				return
			}
			w.Header().Set("Location", servers[where[0]-'a'].URL+"/"+rest)
			w.WriteHeader(status)
		})
	}
	return servers[0], servers[1]
}

func TestRedirects(t *testing.T) {
	const all = "Authorization=Bearer x Cookie=c=1 X-Token=t User-Agent=sluice/1"
	for _, tc := range []struct {
		name         string
		method, body string
		path         string
		redirects    int
		want         []string
		fails        string
	}{
		{"none is followed: it is the response", "GET", "", "/302/b/x", 0, []string{"a GET /302/b/x " + all}, ""},
		{
			"within one origin headers stay", "GET", "", "/302/a/x", 10,
			[]string{"a GET /302/a/x " + all, "a GET /x " + all},
			"",
		},
		{
			"at another port every header goes", "GET", "", "/307/b/x", 10,
			[]string{"a GET /307/b/x " + all, "b GET /x User-Agent=sluice/1"},
			"",
		},
		{
			"headers do not come back", "GET", "", "/302/b/302/a/x", 10,
			[]string{"a GET /302/b/302/a/x " + all, "b GET /302/a/x User-Agent=sluice/1", "a GET /x User-Agent=sluice/1"},
			"",
		},
		{
			"a body stays within one origin", "POST", "text", "/307/a/x", 10,
			[]string{"a POST /307/a/x " + all + " body=text", "a POST /x " + all + " body=text"},
			"",
		},
		{
			"a body does not go elsewhere", "POST", "text", "/308/b/x", 10,
			[]string{"a POST /308/b/x " + all + " body=text"},
			"a redirect to another scheme, host or port would send the body there",
		},
		{
			"a redirect that ends in GET has no body", "POST", "text", "/303/b/x", 10,
			[]string{"a POST /303/b/x " + all + " body=text", "b GET /x User-Agent=sluice/1"},
			"",
		},
		{
			"as many as are allowed", "GET", "", "/302/a/302/a/x", 2,
			[]string{"a GET /302/a/302/a/x " + all, "a GET /302/a/x " + all, "a GET /x " + all},
			"",
		},
		{
			"one more", "GET", "", "/302/a/302/a/302/a/x", 2,
			[]string{"a GET /302/a/302/a/302/a/x " + all, "a GET /302/a/302/a/x " + all, "a GET /302/a/x " + all},
			"stopped after 2 redirects",
		},
	} {
		var v visits
		a, _ := pair(t, &v)
		c := client(t, Options{Redirects: tc.redirects, UserAgent: "sluice/1"})
		r, err := http.NewRequestWithContext(t.Context(), tc.method, a.URL+tc.path, strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Authorization": "Bearer x", "Cookie": "c=1", "X-Token": "t"} {
			r.Header.Set(name, value)
		}
		status, body, err := do(t, c, r)
		if got := v.take(); !slices.Equal(got, tc.want) {
			t.Errorf("%s: got\n%s, want\n%s", tc.name, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		}
		switch {
		case tc.fails != "":
			if err == nil || !strings.HasSuffix(err.Error(), tc.fails) {
				t.Errorf("%s: got %v, want %s", tc.name, err, tc.fails)
			}
		case tc.redirects == 0:
			if status != http.StatusFound || err != nil {
				t.Errorf("%s: got %d, %v", tc.name, status, err)
			}
		case err != nil || body != "the end":
			t.Errorf("%s: got %d, %q, %v", tc.name, status, body, err)
		}
	}
}

func TestEveryHopIsJudged(t *testing.T) {
	var reached []string
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		reached = append(reached, r.Host)
		http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
	})
	resolver := fixed(map[string][]string{"metadata.example": {"169.254.169.254"}, "local.example": {"127.0.0.1"}, "public.example": {"8.8.8.8"}})
	ask := func(p Policy, target, to string) error {
		g := newGuard(p, resolver)
		public := &connections{to: map[string]string{"8.8.8.8:80": server.Listener.Addr().String(), "127.0.0.1:80": server.Listener.Addr().String()}}
		g.connect = public.connect
		c := newClient(Options{Redirects: 10, Proxies: &httpproxy.Config{}}, g)
		t.Cleanup(c.CloseIdleConnections)
		_, _, err := get(t, c, target+"?to="+url.QueryEscape(to))
		return err
	}
	for _, tc := range []struct {
		policy         Policy
		target, to     string
		want, wantHost string
	}{
		{Default, "http://local.example/", "http://169.254.169.254/latest", "egress policy denied link-local address 169.254.169.254", "local.example"},
		{Default, "http://local.example/", "http://2852039166/latest", "egress policy denied link-local address 169.254.169.254", "local.example"},
		{Default, "http://local.example/", "//metadata.example/latest", "egress policy denied link-local address 169.254.169.254", "local.example"},
		{Default, "http://local.example/", "http://[::ffff:a9fe:a9fe]/", "egress policy denied link-local address 169.254.169.254", "local.example"},
		{Strict, "http://public.example/", "http://127.0.0.1/", "egress policy denied loopback address 127.0.0.1", "public.example"},
		{Strict, "http://public.example/", "http://local.example/", "egress policy denied loopback address 127.0.0.1", "public.example"},
	} {
		reached = nil
		err := ask(tc.policy, tc.target, tc.to)
		if denial(err) != tc.want || !slices.Equal(reached, []string{tc.wantHost}) {
			t.Errorf("%s, %s to %s: got %s and requests to %v, want %s", tc.policy, tc.target, tc.to, denial(err), reached, tc.want)
		}
	}
	if err := ask(Default, "http://local.example/", "file:///etc/passwd"); err == nil || !strings.Contains(err.Error(), "unsupported protocol scheme") {
		t.Errorf("a redirect to a file: got %v", err)
	}
}

func TestOrigins(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"http://h/x", "http://h:80/y?z", true},
		{"https://H/", "https://h:443/", true},
		{"http://h/", "https://h/", false},
		{"http://h/", "http://h:8080/", false},
		{"http://h/", "http://i/", false},
		{"http://h.example/", "http://sub.h.example/", false},
		{"http://[::1]/", "http://[::1]:80/", true},
	} {
		a, errA := url.Parse(tc.a)
		b, errB := url.Parse(tc.b)
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if got := origin(a) == origin(b); got != tc.same {
			t.Errorf("%s and %s: got %v, want %v", tc.a, tc.b, got, tc.same)
		}
	}
}

func TestWhoAsks(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header["User-Agent"]) })
	for _, tc := range []struct {
		name, set string
		want      string
	}{
		{"sluice/1", "", "[sluice/1]"},
		{"sluice/1", "mine", "[mine]"},
		{"", "", "[Go-http-client/1.1]"},
	} {
		c := client(t, Options{UserAgent: tc.name})
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		if tc.set != "" {
			r.Header.Set("User-Agent", tc.set)
		}
		if _, got, err := do(t, c, r); got != tc.want {
			t.Errorf("%q, %q: got %s, %v, want %s", tc.name, tc.set, got, err, tc.want)
		}
		if tc.set == "" && r.Header["User-Agent"] != nil {
			t.Error("the caller's request was changed")
		}
	}
}

func TestConnectionsAreUsedAgainAfterShortBodies(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-From", r.RemoteAddr)
		if r.URL.Path == "/long" {
			for range 64 {
				_, _ = w.Write(make([]byte, 16<<10))
			}
			return
		}
		_, _ = w.Write(make([]byte, 100))
	})
	c := client(t, Options{})
	from := func(path string) string {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Discard(answer)
		return answer.Header.Get("X-From")
	}
	first, second, long, after := from("/"), from("/"), from("/long"), from("/")
	if first != second || second != long || long == after {
		t.Errorf("connections: got %s, %s, %s, %s, want one, and another behind the long body", first, second, long, after)
	}
}
