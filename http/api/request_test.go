package api

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// endless is a body without a declared length.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	if e.left == 0 {
		return 0, io.EOF
	}
	n := min(len(p), e.left)
	for i := range p[:n] {
		p[i] = ' '
	}
	e.left -= n
	return n, nil
}

type request struct{ *http.Request }

func newRequest(t *testing.T, method, url string, body io.Reader) request {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	return request{r}
}

func (r request) do() (answer, error) {
	tr := &http.Transport{}
	defer tr.CloseIdleConnections()
	resp, err := tr.RoundTrip(r.Request)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, strings.TrimSuffix(string(b), "\n")}, err
}

func TestQuery(t *testing.T) {
	for _, tc := range []struct {
		name, query, want, fault string
	}{
		{"absent", "", "", ""},
		{"given", "id=a+b%26", "a b&", ""},
		{"empty is given", "id=", "", ""},
		{"unknown ones are ignored, even twice", "x=1&x=2&id=1", "1", ""},
		{"twice", "id=1&id=1", "", "'id' is given more than once"},
		{"not UTF-8", "id=%ff", "", "'id' is not valid UTF-8"},
		{"malformed", "id=%zz", "", "malformed query parameters"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/", nil)
			r.URL.RawQuery = tc.query
			got, err := query(r, "id")
			if tc.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Errorf("got %v, want %q", err, tc.fault)
				}
				return
			}
			if err != nil || got["id"] != tc.want {
				t.Errorf("got %q, %v, want %q", got["id"], err, tc.want)
			}
		})
	}
}

func FuzzBodiesAreJudgedWithoutAPanic(f *testing.F) {
	for _, seed := range []string{`{"mailbox_capacity":5}`, `{"source_id":"x"}`, `{"source_id":null}`, `null`, `{}`, `[`, `{"a":1}{}`, " \n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		if n, err := parseCapacity(body); err == nil && (n < 1 || n > 1_000_000) {
			t.Errorf("parseCapacity(%q): got %d, want it within its bounds", body, n)
		}
		if id, err := parseResolve(body); err != nil && id != "" {
			t.Errorf("parseResolve(%q): got %q with %v", body, id, err)
		}
	})
}
