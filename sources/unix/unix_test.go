//go:build unix

package unix

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/accept"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// place is a path in a directory whose name is short enough for a socket.
func place(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "unix") //nolint:usetesting // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return filepath.Join(dir, "events.sock")
}

func listen(t *testing.T, path string, log io.Writer) (*Source, error) {
	t.Helper()
	metrics, err := accept.NewMetrics(prometheus.NewRegistry())
	if err != nil {
		t.Fatal(err)
	}
	return Listen(path, 2, slog.New(slog.NewTextHandler(log, nil)), metrics.Of(Name))
}

func mustListen(t *testing.T, path string) *Source {
	t.Helper()
	s, err := listen(t, path, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func dial(t *testing.T, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestContract(t *testing.T) {
	sourcetest.Contract(t, sourcetest.Harness{
		New: func(t *testing.T, m modetest.Mode, lines []string) sources.Source {
			t.Helper()
			var client net.Conn
			var src sources.Source
			if m.Real() {
				path := place(t)
				src = mustListen(t, path)
				client = dial(t, path)
			} else {
				metrics, err := accept.NewMetrics(prometheus.NewRegistry())
				if err != nil {
					t.Fatal(err)
				}
				var near net.Conn
				near, client = m.Pipe(t)
				l := sourcetest.NewListener()
				l.Give(near)
				src = accept.New(l, accept.Options{Name: Name, Max: 1, Log: slog.New(slog.DiscardHandler), Counters: metrics.Of(Name), Reader: reader()})
			}
			go func() { _, _ = io.WriteString(client, strings.Join(lines, "\n")+"\n") }() // the source may not read it all
			return src
		},
	})
}

func TestTheSocketIsItsOwnersAndGoesWithTheSource(t *testing.T) {
	path := place(t)
	var log bytes.Buffer
	s, err := listen(t, path, &log)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode(); got != fs.ModeSocket|0o600 {
		t.Errorf("got mode %v, want a socket of mode 0600", got)
	}
	if !strings.Contains(log.String(), `msg="listening for events" source=unix://`+path) {
		t.Errorf("the log does not name the socket: %s", log.String())
	}
	if _, err := listen(t, path, io.Discard); err == nil || err.Error() != "unix socket "+path+" is already in use by a running process" {
		t.Errorf("a second source: got %v", err)
	}
	in := sourcetest.NewIntake(10)
	in.Close()
	c := dial(t, path)
	if _, err := io.WriteString(c, "a\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context(), in); err != nil { // ends as the intake refuses
		t.Error(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the end: got %v, want the file gone", err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("closed once more: %v", err)
	}
}

func TestWhatIsAtThePath(t *testing.T) {
	for _, tc := range []struct {
		name    string
		prepare func(t *testing.T, path string)
		err     string
		log     string
	}{
		{"a stale socket is replaced with a warning", func(t *testing.T, path string) {
			t.Helper()
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			l.SetUnlinkOnClose(false)
			_ = l.Close()
		}, "", "stale socket file removed"},
		{"another file stays", func(t *testing.T, path string) {
			t.Helper()
			if err := os.WriteFile(path, []byte("kept"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "not a socket", ""},
		{"its directory is missing", func(t *testing.T, path string) {
			t.Helper()
			if err := os.Remove(filepath.Dir(path)); err != nil {
				t.Fatal(err)
			}
		}, "no such file", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := place(t)
			tc.prepare(t, path)
			var log bytes.Buffer
			s, err := listen(t, path, &log)
			if err == nil {
				_ = s.Close()
			}
			if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
				t.Errorf("got %v, want %q", err, tc.err)
			}
			if !strings.Contains(log.String(), tc.log) {
				t.Errorf("the log lacks %q: %s", tc.log, log.String())
			}
		})
	}
}

func TestPathsOfSockets(t *testing.T) {
	for path, want := range map[string]string{
		"/run/s.sock": "", "run/s.sock": "must be absolute", "": "must be absolute", "/": "must be absolute",
		"/" + strings.Repeat("x", 200): "has 201 bytes",
	} {
		if err := Check(path); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", path, err, want)
		}
	}
}

func TestALineThatIsTooLongIsReportedAndTheRestComes(t *testing.T) {
	path := place(t)
	s := mustListen(t, path)
	in := sourcetest.NewIntake(10)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(t.Context(), in) }()
	c := dial(t, path)
	if _, err := io.WriteString(c, "a\n"+strings.Repeat("x", sources.MaxLine+1)+"\nb\r\n\n\xff"); err != nil {
		t.Fatal(err)
	}
	_ = c.Close()
	for begin := time.Now(); len(in.Lines()) < 3 && time.Since(begin) < time.Minute; {
		time.Sleep(time.Millisecond)
	}
	if got, want := in.Lines(), []string{"a", "b", "\xff"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := len(in.Excerpts()); got != 1 {
		t.Errorf("%d excerpts, want 1", got)
	}
	_ = s.Close()
	if err := <-ended; err == nil {
		t.Error("a listener that somebody else closed is no error")
	}
}
