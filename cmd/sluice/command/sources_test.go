package command

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

const (
	firstSource  = `{"source_id":"feed","pipeline":"external:sources.yml","type":"Http","refresh":"Interval(300s)","required":true}`
	secondSource = `{"source_id":"list","pipeline":"external:more/b.yml","type":"File","refresh":"Watch","required":false}`
	twoSources   = `{"sources":[` + firstSource + `,` + secondSource + `]}` + "\n"
)

// sourced is a daemon with two sources, of which feed is being fetched.
func sourced(requests *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		*requests = append(*requests, r.Method+" "+r.URL.RequestURI())
		status, text := http.StatusOK, ""
		switch r.Method + " " + r.URL.Path {
		case "GET /api/v1/sources":
			text = twoSources
		case "POST /api/v1/sources/resolve":
			text = `{"status":"resolve_triggered"}`
		case "POST /api/v1/sources/resolve/list":
			text = `{"status":"resolve_triggered","source_id":"list"}`
		case "POST /api/v1/sources/resolve/feed":
			status, text = http.StatusTooManyRequests, `{"status":"resolve_already_pending"}`
		case "DELETE /api/v1/sources/cache/feed", "DELETE /api/v1/sources/cache/nope":
			text = `{"status":"invalidated","source_id":"` + r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:] + `"}`
		default:
			status, text = http.StatusNotFound, `{"error":"unknown dynamic source 'nope'"}`
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, text)
	}
}

func TestSourcesAreListed(t *testing.T) {
	inEmptyDir(t)
	addr := api(t, sourced(new([]string)))
	for format, want := range map[string]string{
		"":     firstSource + "\n" + secondSource + "\n",
		"json": firstSource + "\n" + secondSource + "\n",
		"csv":  "ID,TYPE,REFRESH,REQUIRED,DECLARED IN\nfeed,Http,Interval(300s),true,sources.yml\nlist,File,Watch,false,more/b.yml\n",
		"table": "ID    TYPE  REFRESH         REQUIRED  DECLARED IN\n" +
			"----  ----  --------------  --------  -----------\n" +
			"feed  Http  Interval(300s)  true      sources.yml\n" +
			"list  File  Watch           false     more/b.yml\n",
	} {
		args := []string{"sources", "list", "--addr", addr}
		if format != "" {
			args = append(args, "--output-format", format)
		}
		if got := sluice(t, "", args...); got.code != 0 || got.out != want || got.err != "" {
			t.Errorf("%s: got %q with %q, want %q", format, got.out, got.err, want)
		}
	}
	none := api(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"sources":[]}`) })
	if got := sluice(t, "", "sources", "list", "--addr", none); got.code != 0 || got.out != "" || got.err != "" {
		t.Errorf("without sources: got %q with %q", got.out, got.err)
	}
}

func TestSourcesAreResolvedAndInvalidated(t *testing.T) {
	inEmptyDir(t)
	for _, tc := range []struct {
		name, args string
		code       int
		requests   string // with ", " between them
		out, err   string
	}{
		{"all", "resolve", 0, "POST /api/v1/sources/resolve", `{"status":"resolve_triggered"}` + "\n", ""},
		{"one", "resolve list", 0, "POST /api/v1/sources/resolve/list", `{"status":"resolve_triggered","source_id":"list"}` + "\n", ""},
		{"as a table", "resolve list --output-format csv", 0, "POST /api/v1/sources/resolve/list", "STATUS,SOURCE_ID\nresolve_triggered,list\n", ""},
		{
			"one that is refused keeps no other back", "resolve feed nope list", 3,
			"POST /api/v1/sources/resolve/feed, POST /api/v1/sources/resolve/nope, POST /api/v1/sources/resolve/list",
			`{"status":"resolve_triggered","source_id":"list"}` + "\n", "/resolve/feed: 429 Too Many Requests: resolve_already_pending\n",
		},
		{"one that nobody declares", "resolve nope", 3, "POST /api/v1/sources/resolve/nope", "", "404 Not Found: unknown dynamic source 'nope'"},
		{"an id with a blank in it", "resolve a/b", 3, "POST /api/v1/sources/resolve/a%2Fb", "", "404 Not Found"},
		{"forgetting", "invalidate feed nope", 0, "DELETE /api/v1/sources/cache/feed, DELETE /api/v1/sources/cache/nope", `{"status":"invalidated","source_id":"feed"}` + "\n" + `{"status":"invalidated","source_id":"nope"}` + "\n", ""},
		{"forgetting nothing", "invalidate", 3, "", "", "name the source by its id (sluice sources list shows them)"},
		{"an argument for a list", "list x", 3, "", "", `sources list takes no argument, got "x"`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var requests []string
			got := sluice(t, "", append(strings.Fields("sources "+tc.args), "--addr", api(t, sourced(&requests)))...)
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err)
			if all := strings.Join(requests, ", "); all != tc.requests || got.out != tc.out {
				t.Errorf("asked %q, want %q; got %q, want %q", all, tc.requests, got.out, tc.out)
			}
		})
	}
	got := sluice(t, "", "sources", "resolve", "", "--addr", "127.0.0.1:1")
	got.wantCode(t, 3)
	got.wantErr(t, "the id of the source is empty")
}

func TestIdsOfSourcesAreCompleted(t *testing.T) {
	inEmptyDir(t)
	addr := api(t, sourced(new([]string)))
	for _, command := range []string{"resolve", "invalidate"} {
		got := sluice(t, "", "completion", "words", "--", "sources", command, "--addr", addr, "l")
		if got.code != 0 || got.out != "list\tFile Watch\n" {
			t.Errorf("%s: got %q", command, got.out)
		}
	}
}
