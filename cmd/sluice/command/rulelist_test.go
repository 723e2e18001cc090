package command

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

const (
	whoamiListed = `{"id":"0a1b","title":"Whoami","kind":"detection","level":"high","file":"rules/win/a.yml","document":2,` +
		`"logsource":{"product":"windows","category":"process_creation"},"hits":12,"last_hit":"2026-03-02T12:00:00Z"}`
	sudoListed = `{"title":"Sudo\u001b[2J","kind":"detection","file":"rules/b.yml","document":1,"logsource":{"product":"linux","service":"auth"},"hits":0}`
)

// ruleLister answers with two rules, one a page when asked for one.
func ruleLister(asked *[]string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		*asked = append(*asked, r.URL.Path+"?"+r.URL.RawQuery)
		switch q := r.URL.Query(); {
		case q.Get("level") == "wrong":
			w.WriteHeader(400)
			_, _ = w.Write([]byte(`{"error":"query parameter 'level' must be one of informational, low"}`))
		case q.Get("q") == "odd":
			_, _ = w.Write([]byte(`{"status":"running"}`))
		case q.Get("offset") == "1":
			_, _ = fmt.Fprintf(w, `{"items":[%s],"total":2,"offset":1,"limit":1,"next_offset":null}`, sudoListed)
		case q.Get("q") == "paged" || q.Get("limit") == "1":
			_, _ = fmt.Fprintf(w, `{"items":[%s],"total":2,"offset":0,"limit":1,"next_offset":1}`, whoamiListed)
		default:
			_, _ = fmt.Fprintf(w, `{"items":[%s,%s],"total":2,"offset":0,"limit":1000,"next_offset":null}`, whoamiListed, sudoListed)
		}
	}
}

func TestRulesOfADaemon(t *testing.T) {
	const (
		all   = whoamiListed + "\n" + sudoListed + "\n"
		plain = "/api/v1/rules/list?limit=1000&offset=0"
	)
	for _, tc := range []struct {
		name  string
		args  []string
		code  int
		out   string
		err   string // a part
		asked string // separated by blanks
	}{
		{"all, an object a line", nil, 0, all, "", plain},
		{"in pages", []string{"--search", "paged"}, 0, all, "", "/api/v1/rules/list?limit=1000&offset=0&q=paged /api/v1/rules/list?limit=1000&offset=1&q=paged"},
		{"so many at most", []string{"--limit", "1"}, 0, whoamiListed + "\n", "", "/api/v1/rules/list?limit=1&offset=0"},
		{
			"filters are the daemon's",
			[]string{"--level", "high", "--product", "a b", "--category", "c", "--service", "s", "--hit", "true", "--sort", "hits"},
			0, all, "", "/api/v1/rules/list?category=c&hit=true&level=high&limit=1000&offset=0&product=a+b&service=s&sort=hits",
		},
		{
			"as records",
			[]string{"--output-format", "csv"},
			0,
			"LEVEL,HITS,LAST HIT,TITLE,LOGSOURCE,FILE,ID\nhigh,12,2026-03-02T12:00:00Z,Whoami,windows/process_creation,rules/win/a.yml,0a1b\n-,0,,Sudo\x1b[2J,linux/auth,rules/b.yml,\n", "", plain,
		},
		{"what the daemon says of a wrong filter", []string{"--level", "wrong"}, 3, "", "query parameter 'level' must be one of informational, low", "/api/v1/rules/list?level=wrong&limit=1000&offset=0"},
		{"an answer of something else", []string{"--search", "odd"}, 3, "", "unreadable answer", "/api/v1/rules/list?limit=1000&offset=0&q=odd"},
		{"no number of rules", []string{"--limit", "0"}, 3, "", "--limit: \"0\" is no number of rules", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			var asked []string
			addr := api(t, ruleLister(&asked))
			got := sluice(t, "", append([]string{"engine", "rules", "--addr", addr}, tc.args...)...)
			got.wantCode(t, tc.code)
			if got.out != tc.out {
				t.Errorf("got\n%s\nwant\n%s", got.out, tc.out)
			}
			if !strings.Contains(got.err, tc.err) {
				t.Errorf("got error %q, want %q in it", got.err, tc.err)
			}
			if s := strings.Join(asked, " "); s != tc.asked {
				t.Errorf("asked %s\nwant  %s", s, tc.asked)
			}
		})
	}
}

func TestRulesOnATerminalAreATable(t *testing.T) {
	inEmptyDir(t)
	t.Setenv("TERM", "xterm")
	t.Setenv("NO_COLOR", "")
	var asked []string
	code, shown := onTerminal(t, Program{}, 100, "engine", "rules", "--addr", api(t, ruleLister(&asked)))
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	wantGolden(t, "rules-terminal", shown)
}
