//go:build unix

package server

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func socketAddr(t *testing.T) (Address, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.sock")
	a, err := ParseAddress("unix://" + path)
	if err != nil {
		t.Fatal(err)
	}
	return a, path
}

func TestSocketServesItsOwnerOnlyAndIsRemovedAfterTheDrain(t *testing.T) {
	a, path := socketAddr(t)
	s := serve(t, a, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode(); got != fs.ModeSocket|0o600 {
		t.Errorf("got mode %v, want a socket of mode 0600", got)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", path)
	}}}
	defer client.CloseIdleConnections()
	resp, err := client.Get("http://sluice/")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if body, _ := io.ReadAll(resp.Body); string(body) != "hello" {
		t.Errorf("got %q, want hello", body)
	}
	if err := s.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("after Shutdown, before Close: got %v, want the file still there", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close: got %v, want the file gone", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: got %v, want nil", err)
	}
}

func TestWhatIsInTheWayOfASocket(t *testing.T) {
	for _, tc := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		fault   string // empty: the address is bound
	}{
		{"a socket that a crash left is replaced", func(t *testing.T, path string) {
			t.Helper()
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			l.SetUnlinkOnClose(false)
			l.Close()
		}, ""},
		{"the socket of a live process is left alone", func(t *testing.T, path string) {
			t.Helper()
			l, err := net.Listen("unix", path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { l.Close() })
		}, "in use"},
		{"a datagram socket has an owner of another kind", func(t *testing.T, path string) {
			t.Helper()
			c, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { c.Close() })
		}, "in use"},
		{"a regular file stays", func(t *testing.T, path string) {
			t.Helper()
			if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a socket"},
		{"a symbolic link stays", func(t *testing.T, path string) {
			t.Helper()
			if err := os.Symlink("/nowhere", path); err != nil {
				t.Fatal(err)
			}
		}, "not a socket"},
		{"a directory stays", func(t *testing.T, path string) {
			t.Helper()
			if err := os.Mkdir(path, 0o700); err != nil {
				t.Fatal(err)
			}
		}, "not a socket"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a, path := socketAddr(t)
			tc.prepare(t, path)
			s, err := Listen(a, quiet())
			if tc.fault == "" {
				if err != nil {
					t.Fatal(err)
				}
				defer s.Close()
				info, err := os.Lstat(path)
				if err != nil || info.Mode() != fs.ModeSocket|0o600 {
					t.Errorf("got %v, %v, want a socket of mode 0600", info.Mode(), err)
				}
				return
			}
			if err == nil {
				s.Close()
				t.Fatalf("got no error, want %q", tc.fault)
			}
			if !strings.Contains(err.Error(), tc.fault) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want %q and the path", err, tc.fault)
			}
			if _, err := os.Lstat(path); err != nil {
				t.Errorf("what was in the way is gone: %v", err)
			}
		})
	}
}

func TestAPathThatIsTooLongForASocketIsAnErrorThatSaysSo(t *testing.T) {
	a, err := ParseAddress("unix:///" + strings.Repeat("x", 200))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Listen(a, quiet())
	if err == nil {
		s.Close()
	}
	if err == nil || !strings.Contains(err.Error(), "the path has 201 bytes, a socket's may have 1") { // 107 or 103
		t.Errorf("got %v, want how long it is and may be", err)
	}
}

func TestAMissingDirectoryIsAnError(t *testing.T) {
	a, err := ParseAddress("unix://" + filepath.Join(t.TempDir(), "none", "s.sock"))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Listen(a, quiet()); err == nil {
		s.Close()
		t.Error("got no error, want one")
	}
}

func TestCloseLeavesTheSocketOfASuccessor(t *testing.T) {
	a, path := socketAddr(t)
	first, err := Listen(a, quiet())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	second, err := Listen(a, quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer second.Close()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("got %v, want the successor's file untouched", err)
	}
}

func TestALeadingAtSignIsPartOfTheFileName(t *testing.T) {
	t.Chdir(t.TempDir())
	a, err := ParseAddress("unix://@s")
	if err != nil {
		t.Fatal(err)
	}
	s, err := Listen(a, quiet())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := os.Lstat("@s"); err != nil {
		t.Errorf("got %v, want a file named @s", err)
	}
}

// Of many starts at once one gets the path, and keeps it.
func TestStartsAtOnceLeaveOneSocketThatAnswers(t *testing.T) {
	for round := range 50 {
		a, path := socketAddr(t)
		stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		if err != nil {
			t.Fatal(err)
		}
		stale.SetUnlinkOnClose(false)
		stale.Close()
		const starts = 8
		begin, got := make(chan struct{}), make(chan *Server, starts)
		for range starts {
			go func() {
				<-begin
				s, _ := Listen(a, quiet())
				got <- s
			}()
		}
		close(begin)
		var bound []*Server
		for range starts {
			if s := <-got; s != nil {
				bound = append(bound, s)
			}
		}
		c, err := net.Dial("unix", path)
		if err == nil {
			c.Close()
		}
		if len(bound) != 1 || err != nil {
			t.Fatalf("round %d: %d starts have the path, and it answers with %v", round, len(bound), err)
		}
		if err := bound[0].Close(); err != nil {
			t.Error(err)
		}
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 0 {
			t.Errorf("left behind: %v, %v", entries, err)
		}
	}
}
