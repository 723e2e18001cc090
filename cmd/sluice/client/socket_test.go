//go:build unix

package client

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestADaemonOnASocketIsAsked(t *testing.T) {
	t.Chdir(t.TempDir()) // the path of a socket has to be short
	ln, err := net.Listen("unix", "s")
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Method+" "+r.Host+r.URL.Path+" "+r.Header.Get("Authorization"))
	}))
	_ = srv.Listener.Close()
	srv.Listener = ln
	srv.Start()
	t.Cleanup(srv.Close)
	c, err := New(Options{Addr: "unix://s", Token: "hunter2", Variable: "T", Secure: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	got, err := c.Ask(t.Context(), http.MethodPost, "/api/v1/reload", nil)
	if want := "POST localhost/api/v1/reload Bearer hunter2"; err != nil || string(got) != want || c.Warning() != "" {
		t.Errorf("got %s, %v, %q, want %s without a warning", got, err, c.Warning(), want)
	}
}

func TestSocketsThatNobodyAnswersOn(t *testing.T) {
	t.Chdir(t.TempDir())
	left, err := net.ListenUnix("unix", &net.UnixAddr{Name: "left", Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	left.SetUnlinkOnClose(false)
	_ = left.Close()
	packets, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: "packets", Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer packets.Close()
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, path, want string }{
		{"nothing is there", "none", "connect: no such file or directory (is the daemon running? --addr says where)"},
		{"a daemon left it behind", "left", "connect: connection refused (nobody listens on the socket: is the daemon running?)"},
		{"a file", "file", "connect: connection refused (the file is no socket; --addr says which is the daemon's)"},
		{"a directory", ".", "connect: connection refused (the file is no socket; --addr says which is the daemon's)"},
		{"a socket for packets", "packets", "connect: protocol wrong type for socket (the socket is not one for streams; --addr says which is the daemon's)"},
	} {
		got, err := ask(t, Options{Addr: "unix://" + tc.path})
		got = strings.ReplaceAll(got, "socket operation on non-socket", "connection refused") // of other systems
		if want := "GET /x over ADDR: dial unix " + tc.path + ": " + tc.want; got != want {
			t.Errorf("%s: got %s\nwant %s", tc.name, got, want)
		}
		if !IsLasting(err) {
			t.Errorf("%s: it is no fault that lasts", tc.name)
		}
	}
}

func TestASocketOfAnotherUserIsTold(t *testing.T) {
	c, err := New(Options{Addr: "unix:///run/s"})
	if err != nil {
		t.Fatal(err)
	}
	got := c.fault(t.Context(), http.MethodGet, "/x", dialed(syscall.EACCES))
	const want = "GET /x over unix:///run/s: dial tcp: connect: permission denied (a socket is for the user of the daemon alone: run this command as that user)"
	if got.Error() != want || !got.Lasting {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
