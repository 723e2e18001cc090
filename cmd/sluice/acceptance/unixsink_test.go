package acceptance

import (
	"bufio"
	"errors"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// lineReceiver listens on a socket and reads the lines of its connections.
type lineReceiver struct {
	t    *testing.T
	path string

	mu       sync.Mutex // guards the rest
	listener net.Listener
	conns    []net.Conn
	got      []string
}

func listen(t *testing.T) *lineReceiver {
	t.Helper()
	r := &lineReceiver{t: t, path: filepath.Join(t.TempDir(), "s")}
	t.Cleanup(r.stop)
	r.start()
	return r
}

func (r *lineReceiver) start() {
	r.t.Helper()
	l, err := net.Listen("unix", r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.mu.Lock()
	r.listener = l
	r.mu.Unlock()
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			r.mu.Lock()
			r.conns = append(r.conns, conn)
			r.mu.Unlock()
			go r.read(conn)
		}
	}()
}

func (r *lineReceiver) read(conn net.Conn) {
	for in := bufio.NewReader(conn); ; {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		r.mu.Lock()
		r.got = append(r.got, strings.TrimSuffix(line, "\n"))
		r.mu.Unlock()
	}
}

func (r *lineReceiver) stop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	if r.listener != nil {
		errs = append(errs, r.listener.Close())
	}
	for _, c := range r.conns {
		errs = append(errs, c.Close())
	}
	if err := errors.Join(errs...); err != nil {
		r.t.Error(err)
	}
	r.listener, r.conns = nil, nil
}

func (r *lineReceiver) lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.got)
}

func (r *lineReceiver) awaitLines(n int) {
	r.t.Helper()
	for deadline := time.Now().Add(patience); len(r.lines()) < n; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("%d lines came, want %d", len(r.lines()), n)
		}
	}
}

func TestASocketGetsEachResultOnceWhenItsReceiverComesBack(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	r := listen(t)
	d := start(t, "-r", filepath.Join(dir, "a.yml"), "--input", "http", "--output", "unix://"+r.path, "--sink-retry-max", "1000", "--sink-backoff-max-ms", "20")
	d.push(event("evil 1"), event("evil 2"))
	r.awaitLines(2)
	r.stop()
	if a := d.do("POST", "/api/v1/events", event("evil 3")+"\n"+event("evil 4")); a.status != 200 {
		t.Fatalf("push: %d %s", a.status, a.body)
	}
	d.await("a retry", func() bool { return d.metric(`svc_sink_retries_total{sink="unix"}`) > 0 })
	r.start()
	r.awaitLines(4)
	d.push(event("evil 5"))
	d.stop()
	r.awaitLines(5)
	var want []string
	for _, n := range []string{"1", "2", "3", "4", "5"} {
		want = append(want, resultLine("A", "evil "+n))
	}
	if got := r.lines(); !slices.Equal(got, want) {
		t.Errorf("got %q, want each result once and in order", got)
	}
	if n := d.logged("stopped"); n == nil {
		t.Error("the daemon did not tell its end")
	}
}

func TestDeadLettersGoToASocket(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	r := listen(t)
	got := sluice(t, "no json\n", "engine", "daemon", "-r", filepath.Join(dir, "a.yml"), "--input-format", "json", "--api-addr", "127.0.0.1:0", "--dlq", "unix://"+r.path)
	r.awaitLines(1)
	if line := r.lines()[0]; got.code != 0 || !strings.HasPrefix(line, `{"original_event":"no json","error":"parse error",`) {
		t.Errorf("code %d, dead letter %s\n%s", got.code, line, got.stderr)
	}
}

func TestASocketThatCannotBeOneIsRefused(t *testing.T) {
	plainly(t)
	dir := t.TempDir()
	rules := write(t, dir, "a.yml", rule("A", "evil"))
	for _, tc := range []struct{ name, spec, want string }{
		{"nobody made it", "unix://" + dir + "/none", "/none: no such file or directory: the receiver has to listen before Sluice starts"},
		{"it is a file", "unix://" + rules, "a.yml is no socket"},
		{"it has no path", "unix://", "a unix sink needs the path of a socket: unix:///path"},
		{"it is relative", "unix://run/s", "the path of a socket is absolute: unix:///path, not unix://run/s"},
		{"it has an unknown parameter", "unix:///s?on-full=drop", "unknown parameter 'on-full'"},
	} {
		for _, flag := range []string{"--output", "--dlq"} {
			got := sluice(t, "", "engine", "daemon", "-r", rules, "--api-addr", "127.0.0.1:0", flag, tc.spec)
			if got.code != 3 || !strings.Contains(got.stderr, tc.want) {
				t.Errorf("%s, %s: code %d, want 3 and %q:\n%s", tc.name, flag, got.code, tc.want, got.stderr)
			}
		}
		config := write(t, t.TempDir(), "sluice.yaml", "version: 1\ndaemon:\n  rules: ["+rules+"]\n  api: {addr: '127.0.0.1:9090'}\n  output: {sinks: ['"+tc.spec+"']}\n")
		if got := sluice(t, "", "config", "validate", "--config", config); got.code != 3 || !strings.Contains(got.stdout+got.stderr, tc.want) {
			t.Errorf("%s, validated: code %d, want 3 and %q:\n%s%s", tc.name, got.code, tc.want, got.stdout, got.stderr)
		}
	}
}

func TestASocketThatNobodyListensOnRefusesTheStart(t *testing.T) {
	dir := t.TempDir()
	rules := write(t, dir, "a.yml", rule("A", "evil"))
	r := listen(t)
	r.mu.Lock()
	r.listener.(*net.UnixListener).SetUnlinkOnClose(false)
	r.mu.Unlock()
	r.stop()
	got := sluice(t, "", "engine", "daemon", "-r", rules, "--api-addr", "127.0.0.1:0", "--output", "unix://"+r.path)
	if want := "connection refused: the receiver has to listen before Sluice starts"; got.code != 3 || !strings.Contains(got.stderr, want) {
		t.Errorf("code %d, want 3 and %q:\n%s", got.code, want, got.stderr)
	}
}
