package acceptance

import (
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// overSocket is GET over a unix socket.
func overSocket(t *testing.T, socket, path string) answer {
	t.Helper()
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://localhost" + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(body)}
}

// wantSocket checks that there is a socket for its owner alone.
func wantSocket(t *testing.T, path string) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != os.ModeSocket|0o600 {
		t.Errorf("got %v, %v, want a socket of mode 0600", info, err)
	}
}

func TestASocketOutlivesACrashButNotTheNextStart(t *testing.T) {
	dir := t.TempDir()
	rules, socket := write(t, dir, "rules/a.yml", rule("A", "evil")), filepath.Join(dir, "s.sock")
	args := []string{"-r", rules, "--input", "http", "--api-addr", "unix://" + socket}
	first := start(t, args...)
	wantSocket(t, socket)
	second := sluice(t, "", append([]string{"engine", "daemon"}, args...)...)
	if second.code != 3 || !strings.Contains(second.stderr, "in use") || !strings.Contains(second.stderr, socket) {
		t.Errorf("beside a live process: %+v, want exit code 3", second)
	}
	if a := overSocket(t, socket, "/healthz"); a.status != 200 {
		t.Errorf("the first has lost its socket: %d", a.status)
	}
	first.signal(syscall.SIGKILL)
	first.wait()
	wantSocket(t, socket) // left behind
	third := start(t, args...)
	wantSocket(t, socket)
	if a := overSocket(t, socket, "/api/v1/status"); a.status != 200 || !strings.Contains(a.body, `"status":"running"`) {
		t.Errorf("behind a crash: %d %s", a.status, a.body)
	}
	if !strings.Contains(third.stderr.String(), `"level":"WARN"`) || !strings.Contains(third.stderr.String(), socket) {
		t.Error("nobody is told that a socket was replaced")
	}
	third.stop()
	if _, err := os.Lstat(socket); !os.IsNotExist(err) {
		t.Errorf("behind a drain the socket is there: %v", err)
	}
}

func TestAddressesThatNobodyCanListenOnEndTheStart(t *testing.T) {
	dir := t.TempDir()
	rules := write(t, dir, "rules/a.yml", rule("A", "evil"))
	write(t, dir, "file", "precious")
	if err := os.Symlink("/nowhere", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, tc := range []struct{ name, addr, want string }{
		{"a file in the way of a socket", "unix://" + dir + "/file", "not a socket"},
		{"a link in the way", "unix://" + dir + "/link", "not a socket"},
		{"a directory that is missing", "unix://" + dir + "/none/s.sock", "no such file or directory"},
		{"a socket without a path", "unix://", "unix://"},
		{"a name", "localhost:9090", "localhost:9090"},
		{"no host", ":9090", ":9090"},
		{"no port", "127.0.0.1", "127.0.0.1"},
		{"another daemon's port", l.Addr().String(), "--api-addr chooses another address"},
		{"every interface in clear", "0.0.0.0:0", "refusing to bind plaintext"},
		{"every interface in clear over IPv6", "[::]:0", "refusing to bind plaintext"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := sluice(t, "", "engine", "daemon", "-r", rules, "--api-addr", tc.addr)
			if got.code != 3 || !strings.Contains(got.stderr, tc.want) || strings.Contains(got.stderr, "probes listening") {
				t.Errorf("got %+v, want exit code 3 and %q", got, tc.want)
			}
		})
	}
	if text, err := os.ReadFile(filepath.Join(dir, "file")); string(text) != "precious" {
		t.Errorf("what was in the way is now %q, %v", text, err)
	}
}

func TestProfilesOnAnOpenAddressAreWarnedOf(t *testing.T) {
	dir := t.TempDir()
	rules := write(t, dir, "a.yml", rule("A", "evil"))
	const warning = "profiles are open to everybody who reaches the address"
	for _, tc := range []struct {
		name   string
		args   []string
		warned bool
		status int // of the profiles
	}{
		{"every interface", []string{"--enable-pprof", "--api-addr", "0.0.0.0:0", "--allow-plaintext"}, true, 200},
		{"loopback", []string{"--enable-pprof", "--api-addr", "127.0.0.1:0"}, false, 200},
		{"no profiles", []string{"--api-addr", "0.0.0.0:0", "--allow-plaintext"}, false, 404},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := start(t, append([]string{"-r", rules, "--input", "http"}, tc.args...)...)
			d.addr = strings.Replace(strings.Replace(d.addr, "0.0.0.0", "127.0.0.1", 1), "[::]", "127.0.0.1", 1)
			if got := d.logged(warning) != nil; got != tc.warned {
				t.Errorf("warned %v, want %v", got, tc.warned)
			}
			for _, path := range []string{"/debug/pprof/", "/debug/pprof", "/debug/pprof/heap"} {
				if a := d.get(path); a.status != tc.status || a.status == 404 && strings.TrimSpace(a.body) != `{"error":"not found"}` {
					t.Errorf("GET %s: %d %.100s, want %d", path, a.status, a.body, tc.status)
				}
			}
			if a := d.get("/debug/pprof/profile?seconds=600"); tc.status == 200 && a.status != 400 {
				t.Errorf("ten minutes of a profile: %d, want 400", a.status)
			}
			d.stop()
		})
	}
	t.Run("a socket", func(t *testing.T) {
		d := start(t, "-r", rules, "--input", "http", "--enable-pprof", "--api-addr", "unix://"+dir+"/s.sock")
		if d.logged(warning) != nil {
			t.Error("a socket that one user may open is warned of")
		}
		d.stop()
	})
}

// What clients of any kind are told about paths, methods and features that are off.
func TestConventionsOfTheAPI(t *testing.T) {
	rules := write(t, t.TempDir(), "a.yml", rule("A", "evil"))
	d := start(t, "-r", rules)
	for _, tc := range []struct {
		name, method, path, body string
		headers                  []string
		status                   int
		want                     string
	}{
		{"an unknown path", "GET", "/nope", "", nil, 404, `{"error":"not found"}`},
		{"a method that a route lacks", "PUT", "/api/v1/rules", "", nil, 405, `{"error":"method not allowed"}`},
		{"a question of a browser", "OPTIONS", "/api/v1/status", "", []string{"Origin", "https://example.org", "Access-Control-Request-Method", "GET"}, 405, `{"error":"method not allowed"}`},
		{"a browser of another origin", "GET", "/api/v1/status", "", []string{"Origin", "https://example.org"}, 200, `"status":"running"`},
		{"incidents without grouping", "GET", "/api/v1/incidents", "", nil, 200, `{"count":0,"incidents":[]}`},
		{"one of them", "GET", "/api/v1/incidents/x", "", nil, 503, `"error":"incident grouping disabled"`},
		{"its bundle in an unknown format", "GET", "/api/v1/incidents/x/bundle?format=pdf", "", nil, 400, `'pdf'`},
		{"sources where there are none", "POST", "/api/v1/sources/resolve", "", nil, 404, `{"error":"no dynamic sources configured"}`},
		{"a cache where there is none", "DELETE", "/api/v1/sources/cache/a", "", nil, 200, `"status":"invalidated"`},
		{"events for an input of another kind", "POST", "/api/v1/events", event("evil"), nil, 404, `--input http`},
		{"rules", "GET", "/api/v1/rules", "", nil, 200, `"rejected":[],"excluded":0}`},
		{"answers are not compressed", "GET", "/api/v1/rules", "", []string{"Accept-Encoding", "gzip"}, 200, `"rejected":[]`},
		{"bodies of control routes are not inflated", "PATCH", "/api/v1/actors/parse", `{"mailbox_capacity":50}`, []string{"Content-Encoding", "gzip", "Content-Type", "text/x-odd"}, 200, `"capacity":50`},
		{"bodies that are no UTF-8", "PATCH", "/api/v1/actors/parse", "{\"mailbox_capacity\":\"\xff\"}", nil, 400, `UTF-8`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d.t = t
			a := d.do(tc.method, tc.path, tc.body, tc.headers...)
			if a.status != tc.status || !strings.Contains(a.body, tc.want) || a.header.Get("Content-Type") != "application/json" {
				t.Errorf("%d %s %s, want %d with %s", a.status, a.header.Get("Content-Type"), a.body, tc.status, tc.want)
			}
			for name := range a.header {
				if strings.HasPrefix(name, "Access-Control-") || name == "Content-Encoding" {
					t.Errorf("got header %s", name)
				}
			}
			if v1 := strings.HasPrefix(tc.path, "/api/v1/"); v1 && (a.header.Get("X-Content-Type-Options") != "nosniff" || a.header.Get("Cache-Control") != "no-store") {
				t.Errorf("got headers %v", a.header)
			}
		})
	}
	d.t = t
	d.stop()
}
