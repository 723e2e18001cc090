package file

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/graph"
)

type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func open(t *testing.T, path string) (*Transport, *clock) {
	t.Helper()
	c := &clock{now: time.Unix(1_773_100_800, 0)}
	tr, err := Open(path, c.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tr.Close() })
	return tr, c
}

func write(t *testing.T, tr *Transport, lines ...string) {
	t.Helper()
	if n, err := tr.Write(t.Context(), split(lines)); n != len(lines) || err != nil {
		t.Fatalf("wrote %d of %d lines: %v", n, len(lines), err)
	}
}

func split(lines []string) (out []graph.Message) {
	for _, l := range lines {
		out = append(out, graph.Message{Body: []byte(l)})
	}
	return out
}

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s holds %q, want %q", filepath.Base(path), got, want)
	}
}

func TestLinesAreAppended(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("before\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, _ := open(t, path)
	write(t, tr, "a", "b")
	write(t, tr, "c")
	wantContent(t, path, "before\na\nb\nc\n")
}

func TestALineThatAnEarlierProcessBeganIsNotGoneOnWith(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("before\nhal"), 0o600); err != nil {
		t.Fatal(err)
	}
	tr, c := open(t, path)
	write(t, tr, "a", "b")
	wantContent(t, path, "before\nhal\na\nb\n")
	if err := os.WriteFile(path+".new", []byte("hal"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
	c.now = c.now.Add(time.Second)
	write(t, tr, "c")
	wantContent(t, path, "hal\nc\n")
}

func TestANewFileIsNotForTheWorld(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	open(t, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&^0o640 != 0 {
		t.Errorf("mode %o, want no more than 640", mode)
	}
}

func TestAMissingDirectoryIsNotCreated(t *testing.T) {
	_, err := Open(filepath.Join(t.TempDir(), "no", "out"), time.Now)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want not found", err)
	}
}

func TestRotation(t *testing.T) {
	for _, tc := range []struct {
		name   string
		rotate func(t *testing.T, tr *Transport, c *clock, path string)
		old    string
		now    string
	}{
		{"a renamed file is left within a second", func(t *testing.T, _ *Transport, c *clock, path string) {
			t.Helper()
			rename(t, path)
			c.now = c.now.Add(time.Second)
		}, "a\n", "b\n"},
		{"before the second is over nobody looks", func(t *testing.T, _ *Transport, _ *clock, path string) { t.Helper(); rename(t, path) }, "a\nb\n", ""},
		{"a reload looks at once", func(t *testing.T, tr *Transport, _ *clock, path string) { t.Helper(); rename(t, path); tr.Reopen() }, "a\n", "b\n"},
		{"a reload without rotation changes nothing", func(_ *testing.T, tr *Transport, _ *clock, _ string) { tr.Reopen() }, "", "a\nb\n"},
		{"copy and truncate", func(t *testing.T, _ *Transport, _ *clock, path string) {
			t.Helper()
			if err := os.Truncate(path, 0); err != nil {
				t.Fatal(err)
			}
		}, "", "b\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			tr, c := open(t, path)
			write(t, tr, "a")
			tc.rotate(t, tr, c, path)
			write(t, tr, "b")
			if tc.old != "" {
				wantContent(t, path+".1", tc.old)
			}
			if tc.now != "" {
				wantContent(t, path, tc.now)
			}
		})
	}
}

func rename(t *testing.T, path string) {
	t.Helper()
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
}

// A file limit makes the kernel take part of a write.
func TestARetryGoesOnAtTheFirstByteNotWritten(t *testing.T) {
	for _, tc := range []struct {
		name    string
		abandon bool
		then    []string
		want    string
	}{
		{"the same line goes on", false, []string{"bbbb", "c"}, "aaaa\nbbbb\nc\n"},
		{"a line given up does not run into the next", true, []string{"c"}, "aaaa\nb\nc\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			tr, _ := open(t, path)
			tr.buf = append(tr.buf, "aaaa\nb"...)
			if _, err := tr.file.Write(tr.buf); err != nil {
				t.Fatal(err)
			}
			if n := tr.settle(split([]string{"aaaa", "bbbb", "c"}), len(tr.buf)); n != 1 {
				t.Fatalf("%d lines confirmed, want 1", n)
			}
			if tc.abandon {
				tr.Abandon()
			}
			write(t, tr, tc.then...)
			wantContent(t, path, tc.want)
		})
	}
}

// writeLines writes lines as one text.
func writeLines(t *testing.T, tr *Transport, lines ...string) (confirmed int, err error) {
	t.Helper()
	return tr.WriteLines(t.Context(), split(lines), []byte(strings.Join(lines, "\n")+"\n"))
}

func TestLinesAreWrittenAsTheyLie(t *testing.T) {
	for _, tc := range []struct {
		name  string
		taken int  // bytes of the first line that are written already
		torn  bool // the file ends within another line
		want  string
	}{
		{"all of them", 0, false, "aaaa\nbbbb\n"},
		{"behind a part of the first", 2, false, "aaaa\nbbbb\n"},
		{"behind a line that nobody goes on with", 0, true, "zz\naaaa\nbbbb\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			tr, _ := open(t, path)
			tr.taken, tr.torn = tc.taken, tc.torn
			before := "aaaa"[:tc.taken]
			if tc.torn {
				before = "zz"
			}
			if _, err := tr.file.WriteString(before); err != nil {
				t.Fatal(err)
			}
			if n, err := writeLines(t, tr, "aaaa", "bbbb"); n != 2 || err != nil {
				t.Errorf("%d lines confirmed, %v, want both", n, err)
			}
			wantContent(t, path, tc.want)
		})
	}
}

func TestLinesThatAPipeTookInPartGoOnBehindIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no FIFOs here: %v", err)
	}
	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	tr, _ := open(t, path)
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan error, 1)
	go func() { // the pipe takes the first lines, and is full for ever
		_, err := io.ReadFull(reader, make([]byte, len("a\nb\n")))
		cancel()
		read <- err
	}()
	long := strings.Repeat("x", 1<<20)
	lines := []string{"a", "b", long, "c"}
	n, err := tr.WriteLines(ctx, split(lines), []byte(strings.Join(lines, "\n")+"\n"))
	if n != 2 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d lines confirmed, %v, want those before the long one, and a deadline", n, err)
	}
	if err := <-read; err != nil {
		t.Error(err)
	}
}

func TestLinesFollowTheirPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	tr, _ := open(t, path)
	if n, err := writeLines(t, tr, "a"); n != 1 || err != nil {
		t.Fatalf("%d lines confirmed, %v, want one", n, err)
	}
	rename(t, path)
	tr.Reopen()
	if n, err := writeLines(t, tr, "b", "c"); n != 2 || err != nil {
		t.Fatalf("%d lines confirmed, %v, want two", n, err)
	}
	wantContent(t, path, "b\nc\n")
	if err := tr.file.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := writeLines(t, tr, "d"); n != 0 || err == nil {
		t.Errorf("%d lines confirmed and no error, want none in a file that is closed", n)
	}
	tr.file = nil
}

func TestALineBrokenByRotationIsWholeInTheNewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	tr, _ := open(t, path)
	if _, err := tr.file.WriteString("aa"); err != nil {
		t.Fatal(err)
	}
	tr.taken = 2
	rename(t, path)
	tr.Reopen()
	write(t, tr, "aaaa")
	wantContent(t, path, "aaaa\n")
}

// Somebody may truncate the file to make room on a full disk.
func TestALineBrokenByTruncationIsWholeBehindIt(t *testing.T) {
	for _, tc := range []struct {
		name             string
		emptied, abandon bool
		next             string
		want             string
	}{
		{"the beginning is gone", true, false, "aaaa", "aaaa\n"},
		{"the line was given up", true, true, "b", "b\n"},
		{"nothing is gone", false, false, "aaaa", "before\naaaa\n"},
	} {
		for how, write := range map[string]func(*testing.T, *Transport, ...string){"from messages": write, "as they lie": func(t *testing.T, tr *Transport, lines ...string) {
			t.Helper()
			if n, err := writeLines(t, tr, lines...); n != len(lines) || err != nil {
				t.Errorf("%d lines confirmed, %v", n, err)
			}
		}} {
			t.Run(tc.name+", "+how, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "out")
				tr, _ := open(t, path)
				if _, err := tr.file.WriteString("before\naa"); err != nil {
					t.Fatal(err)
				}
				tr.taken = 2
				if tc.abandon {
					tr.Abandon()
				}
				if tc.emptied {
					if err := os.Truncate(path, 0); err != nil {
						t.Fatal(err)
					}
				}
				write(t, tr, tc.next)
				wantContent(t, path, tc.want)
			})
		}
	}
}

func TestFIFO(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("no FIFOs here: %v", err)
	}
	tr, _ := open(t, path) // does not wait for a reader
	if _, err := tr.Write(t.Context(), split([]string{"a"})); !errors.Is(err, errNoReader) {
		t.Fatalf("without a reader: got %v, want %v", err, errNoReader)
	}

	reader, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	write(t, tr, "a")
	buf := make([]byte, 2)
	if _, err := io.ReadFull(reader, buf); err != nil || string(buf) != "a\n" {
		t.Fatalf("read %q and %v, want the line", buf, err)
	}

	full := split([]string{strings.Repeat("x", 1<<20)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := tr.Write(ctx, full); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a full FIFO at the end of the drain: got %v, want a deadline", err)
	}
	reader.Close()
	if _, err := tr.Write(t.Context(), split([]string{"b"})); err == nil {
		t.Error("the reader left and the write still succeeded")
	}
}

func TestDevices(t *testing.T) {
	tr, _ := open(t, os.DevNull)
	write(t, tr, "a", "b")
	if err := tr.Close(); err != nil {
		t.Errorf("close: got %v, want no error", err)
	}
	tr.file = nil
}

func TestLongLinesNeedLittleMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	tr, _ := open(t, path)
	var want strings.Builder
	for _, size := range []int{100_000, 1 << 20, bufferBytes - 1, 10} {
		var lines []string
		for i := range 20 {
			lines = append(lines, strings.Repeat(string(rune('a'+i)), size))
			want.WriteString(lines[i] + "\n")
		}
		write(t, tr, lines...)
		if got := cap(tr.buf); got > 2*bufferBytes {
			t.Errorf("%d bytes are kept behind lines of %d, want at most %d", got, size, 2*bufferBytes)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("%d bytes are written, want the %d of all lines in order", len(got), want.Len())
	}
}
