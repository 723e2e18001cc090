package audit

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/state"
)

// served is a wrapped handler on a socket that speaks HTTP/1 and HTTP/2.
type served struct {
	*rig
	url string
}

func serve(t *testing.T, h http.HandlerFunc, adapt ...func(*Options)) served {
	t.Helper()
	r := open(t, t.TempDir(), adapt...)
	s := httptest.NewUnstartedServer(r.Wrap("/things/{id}", h))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	s.Start()
	t.Cleanup(s.Close)
	return served{r, s.URL}
}

// last is the newest record, as a sink shows it.
func (s served) last(t *testing.T) Record {
	t.Helper()
	q := All()
	q.Limit = 1
	p := s.page(t, q)
	if len(p.Entries) == 0 {
		return Record{}
	}
	return p.Entries[0]
}

func digest(body string) string {
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

// unsized hides the length of a body.
type unsized struct{ io.Reader }

func TestBodies(t *testing.T) {
	const limit = 16
	fits, over := strings.Repeat("x", limit), strings.Repeat("x", limit+1)
	for _, protocol := range []string{"HTTP/1", "HTTP/2"} {
		transport := &http.Transport{Protocols: new(http.Protocols)}
		transport.Protocols.SetHTTP1(protocol == "HTTP/1")
		transport.Protocols.SetUnencryptedHTTP2(protocol == "HTTP/2")
		for _, tc := range []struct {
			name   string
			method string
			body   io.Reader
			status int
			read   string // by the handler
			digest string // "": null
		}{
			{"no body", "POST", nil, 207, "", ""},
			{"an empty body without a length", "POST", unsized{strings.NewReader("")}, 207, "", ""},
			{"a body", "POST", strings.NewReader("abc"), 207, "abc", digest("abc")},
			{"a body without a length", "POST", unsized{strings.NewReader("abc")}, 207, "abc", digest("abc")},
			{"the bytes as they came", "PATCH", strings.NewReader("\x00\xff \n"), 207, "\x00\xff \n", digest("\x00\xff \n")},
			{"exactly the limit", "POST", strings.NewReader(fits), 207, fits, digest(fits)},
			{"exactly the limit, without a length", "POST", unsized{strings.NewReader(fits)}, 207, fits, digest(fits)},
			{"above the limit", "POST", strings.NewReader(over), 413, "", ""},
			{"above the limit, without a length", "POST", unsized{strings.NewReader(over)}, 413, "", ""},
			{"far above the limit, without a length", "PUT", unsized{strings.NewReader(strings.Repeat(over, 1000))}, 413, "", ""},
			{"of DELETE no body is read", "DELETE", nil, 207, "", ""},
		} {
			t.Run(protocol+"/"+tc.name, func(t *testing.T) {
				var read []byte
				runs := 0
				s := serve(t, func(w http.ResponseWriter, r *http.Request) {
					runs++
					read, _ = io.ReadAll(r.Body)
					w.WriteHeader(207)
				}, func(o *Options) { o.Config.MaxBodyBytes = limit })
				req, err := http.NewRequest(tc.method, s.url, tc.body)
				if err != nil {
					t.Fatal(err)
				}
				resp, err := transport.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				answer, _ := io.ReadAll(resp.Body)
				_ = resp.Body.Close()
				transport.CloseIdleConnections()
				if resp.StatusCode != tc.status || string(read) != tc.read || (runs == 1) != (tc.status == 207) {
					t.Errorf("status %d after %d runs that read %q, want %d and %q", resp.StatusCode, runs, read, tc.status, tc.read)
				}
				if want := `{"error":"request body exceeds audit max_body_bytes","max_body_bytes":16}` + "\n"; tc.status == 413 &&
					(string(answer) != want || resp.Header.Get("Content-Type") != "application/json") {
					t.Errorf("answer %q of type %q, want %q", answer, resp.Header.Get("Content-Type"), want)
				}
				got, want := s.last(t), Record{ID: 1, TS: s.now, Method: tc.method, Endpoint: "/things/{id}", Status: tc.status}
				if tc.digest != "" {
					want.PayloadDigest = &tc.digest
				}
				g, _ := got.line()
				w, _ := want.line()
				if !bytes.Equal(g, w) {
					t.Errorf("recorded %s\nwant     %s", g, w)
				}
			})
		}
	}
}

func TestTheDigestIsThatOfTheBodyAsSent(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) })
	resp, err := http.Post(s.url, "", strings.NewReader(`{"rule_id":"r1","verdict":"false_positive"}`))
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	r := s.last(t)
	if r.PayloadDigest == nil || *r.PayloadDigest != "4085d5b3641a3dae25a6603108dd7a37e99f73c388547dfe2da509f260ec4159" || r.Status != 503 {
		t.Errorf("got %+v", r)
	}
}

func TestABodyOfDELETEIsLeftToTheHandler(t *testing.T) {
	var read string
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		read = string(b)
	}, func(o *Options) { o.Config.MaxBodyBytes = 2 })
	req, _ := http.NewRequest("DELETE", s.url, strings.NewReader("a body above the limit"))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if r := s.last(t); resp.StatusCode != 200 || read != "a body above the limit" || r.PayloadDigest != nil || r.Status != 200 {
		t.Errorf("status %d, read %q, recorded %+v", resp.StatusCode, read, r)
	}
}

func TestABodyThatBreaksOffReachesTheHandlerAsSuch(t *testing.T) {
	failed := make(chan error, 1)
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		failed <- fmt.Errorf("%s, then %w", b, err)
		w.WriteHeader(http.StatusBadRequest)
	})
	c, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nno chunk\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !strings.HasPrefix(err.Error(), "abc, then invalid byte in chunk length") {
		t.Errorf("the handler saw %v", err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if r := s.last(t); r.PayloadDigest != nil || r.Status != 400 {
		t.Errorf("recorded %+v, want 400 without a digest", r)
	}
}

func TestOutcomes(t *testing.T) {
	for _, tc := range []struct {
		name    string
		h       http.HandlerFunc
		status  int // recorded
		answers int // 0: the connection is cut
	}{
		{"a handler that writes nothing", func(http.ResponseWriter, *http.Request) {}, 200, 200},
		{"a body without a status", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }, 200, 200},
		{"a status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201) }, 201, 201},
		{"the first status counts", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); w.WriteHeader(200) }, 404, 404},
		{"a word in between is no outcome", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(103); w.WriteHeader(409) }, 409, 409},
		{"a flush sends the status", func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() }, 200, 200},
		{"a panic", func(http.ResponseWriter, *http.Request) { panic("x") }, 500, 0},
		{"a panic behind the status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201); panic("x") }, 201, 0},
		{"an aborted answer", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, 500, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := serve(t, tc.h)
			resp, err := http.Post(s.url, "", nil)
			status := 0
			if err == nil {
				status = resp.StatusCode
				_ = resp.Body.Close()
			}
			if got := s.last(t); status != tc.answers || got.Status != tc.status || got.ID != 1 {
				t.Errorf("answered %d (%v), recorded %+v, want %d and %d", status, err, got, tc.answers, tc.status)
			}
			if p := s.page(t, All()); p.Count != 1 {
				t.Errorf("%d records, want one", p.Count)
			}
		})
	}
}

func TestNothingIsSentBeforeTheRowIsStored(t *testing.T) {
	for _, tc := range []struct {
		name string
		h    http.HandlerFunc
		body string
	}{
		{"a status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201) }, ""},
		{"a body", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x") }, ""},
		{"a flush", func(w http.ResponseWriter, _ *http.Request) { _ = http.NewResponseController(w).Flush() }, ""},
		{"nothing", func(http.ResponseWriter, *http.Request) {}, ""},
		{"a refusal", nil, strings.Repeat("x", 1<<17)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			sent, stored := false, 0
			r := open(t, t.TempDir(), func(o *Options) {
				o.Rows = &watched{Table: o.Rows.(*state.Table), put: func([]byte) error {
					if stored++; sent {
						t.Error("something was sent before the row was stored")
					}
					return nil
				}}
			})
			w := &sending{ResponseRecorder: httptest.NewRecorder(), sent: &sent}
			r.Wrap("/x", tc.h).ServeHTTP(w, httptest.NewRequest("POST", "/x", strings.NewReader(tc.body)))
			if stored != 1 {
				t.Errorf("%d rows were stored, want one", stored)
			}
		})
	}
}

// sending notes that something was sent.
type sending struct {
	*httptest.ResponseRecorder
	sent *bool
}

func (s *sending) WriteHeader(status int) { *s.sent = true; s.ResponseRecorder.WriteHeader(status) }

func (s *sending) Write(p []byte) (int, error) { *s.sent = true; return s.ResponseRecorder.Write(p) }
func (s *sending) FlushError() error           { *s.sent = true; return nil }

func TestTheNameOfTheTokenIsRecorded(t *testing.T) {
	s := serve(t, func(http.ResponseWriter, *http.Request) {}, func(o *Options) {
		o.Token = func(r *http.Request) string { return r.Header.Get("X-Token-Name") }
	})
	for _, name := range []string{"op", ""} {
		req, _ := http.NewRequest("POST", s.url, nil)
		req.Header.Set("X-Token-Name", name)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if got := s.last(t).Token; got != name {
			t.Errorf("recorded %q, want %q", got, name)
		}
	}
}

func TestTheRequestOfTheHandlerIsThatOfTheClient(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.PathValue("id"), r.Pattern, r.ContentLength, r.URL.RawQuery)
	})
	h := s.Wrap("/things/{id}", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.PathValue("id"), " ", r.Pattern, " ", r.ContentLength, " ", r.URL.RawQuery)
	}))
	req := httptest.NewRequest("POST", "/things/7?a=b", strings.NewReader("xyz"))
	req.SetPathValue("id", "7")
	req.Pattern = "/things/{id}"
	w := httptest.NewRecorder()
	h.ServeHTTP(w, req)
	if got, want := w.Body.String(), "7 /things/{id} 3 a=b"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
