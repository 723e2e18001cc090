package fetch_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sources/fetch"
)

// serve starts a server.
func serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s
}

// ask fetches JSON over HTTP, with further keys.
func ask(t *testing.T, o fetch.Options, url, keys string) (string, error) {
	t.Helper()
	c, _ := client(t, o)
	v, err := c.Fetch(t.Context(), declared(t, fmt.Sprintf("{id: a, type: http, url: %q, format: json, %s}", url, keys)), nil)
	return string(v.JSON), err
}

func variables(set map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { value, ok := set[name]; return value, ok }
}

func TestRequests(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_ = json.NewEncoder(w).Encode(fmt.Sprintf("%s %s %s %s ua=%s type=%s x=%s", r.Method, r.Host, r.URL, body, r.UserAgent(), r.Header["Content-Type"], r.Header["X"]))
	})
	host := strings.TrimPrefix(server.URL, "http://")
	env := variables(map[string]string{"TOK": "1", "EMPTY": "", "A_1": "${TOK}"})
	for _, tc := range []struct{ name, keys, want string }{
		{"nothing said", "", "GET " + host + " /x?${TOK}  ua=sluice/1.2.3 type=[] x=[]"},
		{"a body", "body: hello", "POST " + host + " /x?${TOK} hello ua=sluice/1.2.3 type=[] x=[]"},
		{"a method", "method: REPORT", "REPORT " + host + " /x?${TOK}  ua=sluice/1.2.3 type=[] x=[]"},
		{"a method with a body", "body: hello, method: GET", "GET " + host + " /x?${TOK} hello ua=sluice/1.2.3 type=[] x=[]"},
		{"a header", `headers: {X: "${TOK}-${tok}"}`, "x=[1-${tok}]"},
		{"variables in a header", `headers: {X: "${TOK}${TOK}$TOK${}${ TOK}${1A}${A-B}"}`, "x=[11$TOK${}${ TOK}${1A}${A-B}]"},
		{"a variable is not read twice", `headers: {X: "${A_1}"}`, "x=[${TOK}]"},
		{"a variable that is not set", `headers: {X: "a${NOT_SET}b"}`, "x=[ab]"},
		{"variables in a body", `body: "a=${TOK}&b=${EMPTY}&c=${NOT_SET}&d=${x}"`, "a=1&b=&c=&d=${x} ua"},
		{"another agent", "headers: {user-agent: mine}", "ua=mine type"},
		{"another host", "headers: {Host: example.test}", "GET example.test /x"},
		{"a type", "body: '{}', headers: {content-type: application/json}", "type=[application/json]"},
	} {
		got, err := ask(t, fetch.Options{Getenv: env}, server.URL+"/x?${TOK}", tc.keys)
		var told string
		if err != nil || json.Unmarshal([]byte(got), &told) != nil || !strings.Contains(told, tc.want) {
			t.Errorf("%s: got %s, %v, want %s", tc.name, got, err, tc.want)
		}
	}
}

func TestVariablesThatAreNotSetAreToldOnce(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "1") })
	c, log := client(t, fetch.Options{Getenv: variables(nil)})
	d := declared(t, fmt.Sprintf(`{id: a, type: http, url: %q, format: json, headers: {A: "${NOT_SET}", B: "${NOT_SET}"}, body: "${NOR_THIS}"}`, server.URL))
	for range 3 {
		if _, err := c.Fetch(t.Context(), d, nil); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"NOT_SET", "NOR_THIS"} {
		if n := strings.Count(log.String(), `level=WARN msg="a variable of the environment is not set and counts as empty" source=a variable=`+name); n != 1 {
			t.Errorf("%s was told %d times in %s", name, n, log.String())
		}
	}
}

func TestAnswers(t *testing.T) {
	var zeros bytes.Buffer
	z, err := gzip.NewWriterLevel(&zeros, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	for range 12 {
		if _, err := z.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	bomb := zeros.Bytes()
	hold := func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	}
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch name := strings.TrimPrefix(r.URL.Path, "/"); name {
		case "busy":
			http.Error(w, "busy", http.StatusServiceUnavailable)
		case "silent":
			w.WriteHeader(http.StatusTeapot)
		case "strange":
			w.WriteHeader(599)
			fmt.Fprint(w, "\xff\xfe?")
		case "page":
			w.WriteHeader(http.StatusInternalServerError)
			for range 10 << 10 {
				if _, err := w.Write(bytes.Repeat([]byte("x"), 1<<10)); err != nil {
					return
				}
			}
		case "created":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, "1")
		case "nothing":
			w.WriteHeader(http.StatusNoContent)
		case "unasked":
			w.WriteHeader(http.StatusNotModified)
		case "declared":
			w.Header().Set("Content-Length", fmt.Sprint(11<<20))
			hold(w, r) // no byte of the body comes
		case "long":
			w.Header().Set("Content-Length", "500")
			fmt.Fprint(w, "[1]")
		case "chunked":
			for r.Context().Err() == nil {
				_, _ = w.Write(make([]byte, 1<<20))
			}
		case "huge":
			w.Header().Set("Content-Length", fmt.Sprint(100<<20))
			for range 100 {
				if _, err := w.Write(make([]byte, 1<<20)); err != nil {
					return
				}
			}
		case "gzip":
			w.Header().Set("Content-Encoding", "gzip")
			g := gzip.NewWriter(w)
			fmt.Fprint(g, "[1]")
			_ = g.Close()
		case "bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		case "broken-gzip":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb[:20])
		case "brotli":
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "xx")
		case "drip":
			fmt.Fprint(w, "[")
			hold(w, r)
		case "mute":
			<-r.Context().Done()
		case "closes":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_ = conn.Close()
			}
		case "garbage":
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				fmt.Fprint(conn, "hello\r\n\r\n")
				_ = conn.Close()
			}
		case "invalid":
			fmt.Fprint(w, "<html>")
		default:
			fmt.Fprint(w, " [1, 2] ")
		}
	})
	for _, tc := range []struct{ path, keys, want, err string }{
		{"plain", "", "[1,2]", ""},
		{"created", "", "1", ""},
		{"nothing", "", "", "Parse|unexpected end of JSON input"},
		{"busy", "", "", "Fetch|fetch failed: HTTP 503 Service Unavailable: busy"},
		{"silent", "", "", "Fetch|fetch failed: HTTP 418 I'm a teapot"},
		{"strange", "", "", "Fetch|fetch failed: HTTP 599 status code 599: \uFFFD?"},
		{"page", "", "", "Fetch|fetch failed: HTTP 500 Internal Server Error: " + strings.Repeat("x", 509) + "..."},
		{"unasked", "", "", "Fetch|fetch failed: HTTP 304 Not Modified"},
		{"declared", "", "", "ResourceLimit|resource limit exceeded: response body exceeds 10485760 byte limit"},
		{"huge", "", "", "ResourceLimit|resource limit exceeded: response body exceeds 10485760 byte limit"},
		{"chunked", "max_body_size: 1048576", "", "ResourceLimit|resource limit exceeded: response body exceeds 1048576 byte limit"},
		{"bomb", "max_body_size: 1048576", "", "ResourceLimit|resource limit exceeded: response body exceeds 1048576 byte limit"},
		{"plain", "max_body_size: 7", "", "ResourceLimit|response body exceeds 7 byte limit"},
		{"plain", "max_body_size: 8", "[1,2]", ""},
		{"long", "", "", "Fetch|fetch failed: read the response body: unexpected EOF"},
		{"gzip", "", "[1]", ""},
		{"broken-gzip", "", "", "Fetch|unexpected EOF"},
		{"brotli", "headers: {Accept-Encoding: br}", "", "Fetch|the body has the encoding 'br'"},
		{"drip", "timeout: 100ms", "", "Timeout|timed out"},
		{"mute", "timeout: 100ms", "", "Timeout|timed out"},
		{"closes", "", "", "Fetch|fetch failed: EOF"},
		{"garbage", "", "", "Fetch|fetch failed: net/http: HTTP/1.x transport connection broken: malformed HTTP response"},
		{"invalid", "", "", "Parse|parse failed: invalid JSON"},
	} {
		got, err := ask(t, fetch.Options{}, server.URL+"/"+tc.path, tc.keys)
		if got != tc.want || !fails(t, err, tc.err) || err != nil && len(err.Error()) > 700 {
			t.Errorf("%s, %s: got %s, %v, want %s, %s", tc.path, tc.keys, got, err, tc.want, tc.err)
		}
	}
}

func TestServersThatAreNotThere(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t, fetch.Options{}, "http://"+addr+"/?token=secret", ""); !fails(t, err, "Fetch|connection refused") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a port that nobody listens on: got %v", err)
	}
	none := resolver{}
	if _, err := ask(t, fetch.Options{Resolver: none}, "http://feed.test/?token=secret", ""); !fails(t, err, "Fetch|fetch failed: no addresses resolved for 'feed.test'") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a name that nobody has: got %v", err)
	}
	tls := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "1") }))
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	t.Cleanup(tls.Close)
	if _, err := ask(t, fetch.Options{}, tls.URL, ""); !fails(t, err, "Fetch|certificate signed by unknown authority") {
		t.Errorf("a certificate that nobody vouches for: got %v", err)
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	var mu sync.Mutex
	from := make(map[string]int)
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		from[r.RemoteAddr]++
		if r.URL.Path == "/bad" {
			w.WriteHeader(http.StatusBadGateway)
		}
		fmt.Fprint(w, "1")
	})
	c, _ := client(t, fetch.Options{})
	for _, path := range []string{"/", "/bad", "/other", "/"} {
		_, _ = c.Fetch(t.Context(), declared(t, fmt.Sprintf("{id: a, type: http, url: %q, format: json}", server.URL+path)), nil)
	}
	if len(from) != 1 {
		t.Errorf("connections: %v", from)
	}
}

// A server that tells what it was sent gives nothing away.
func TestSecretsAreNotTold(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Echo", r.Header.Get("Authorization"))
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "%s| no access for %s with %s and %s: %s", strings.Repeat("x", 480), r.Header.Get("Authorization"), r.Header.Get("X-Plain"), body, r.URL)
	})
	env := variables(map[string]string{"TOKEN": "env-secret-token", "KEY": "env-secret-key", "LINES": "a\nsecret"})
	withUser := strings.Replace(server.URL, "http://", "http://user:secret-password@", 1)
	basic := base64.StdEncoding.EncodeToString([]byte("user:secret-password"))
	for _, tc := range []struct{ name, url, keys string }{
		{"a server that echoes", withUser + "/?api_key=secret-query", `headers: {Authorization: "Bearer ${TOKEN}", X-Plain: secret-plain}, body: "k=${KEY}&p=secret-body"`},
		{"a short page", withUser, `headers: {X-Plain: "${TOKEN}"}`},
		{"a header with a line break", server.URL, `headers: {X-Plain: "${LINES}"}`},
		{"a header in the declaration with a line break", server.URL, `headers: {X-Plain: "secret\nsecret"}`},
		{"a server that is not there", "http://user:secret@127.0.0.1:1/?token=secret", `headers: {A: "${TOKEN}"}`},
		{"a host that is none", "http://user:secret@h%41/?token=secret", `headers: {A: "${TOKEN}"}`},
		{"a port beyond all", "http://user:secret@127.0.0.1:99999/?token=secret", `headers: {A: "${TOKEN}"}`},
	} {
		path := write(t, "s.yml", fmt.Sprintf("sources:\n- {id: a, type: http, url: %q, format: json, %s}\n", tc.url, tc.keys))
		all, _, err := fetch.Load([]string{path})
		c, log := client(t, fetch.Options{Getenv: env})
		if err == nil {
			_, err = c.Fetch(t.Context(), all[0], nil)
		}
		if err == nil {
			t.Errorf("%s: no error", tc.name)
			continue
		}
		if text := err.Error() + log.String(); strings.Contains(text, "secr") || strings.Contains(text, basic) {
			t.Errorf("%s: the error shows a secret: %s", tc.name, text)
		}
	}
}

// The whole of a fetch has one deadline: a body that drips does not extend it.
func TestADripDoesNotExtendTheTimeout(t *testing.T) {
	server := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			fmt.Fprint(w, " ")
			w.(http.Flusher).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	})
	if _, err := ask(t, fetch.Options{}, server.URL, "timeout: 200ms"); !fails(t, err, "Timeout|timed out") {
		t.Errorf("got %v", err)
	}
}
