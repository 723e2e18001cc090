package sources

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func readAll(t *testing.T, src io.Reader) (lines []string, err error) {
	t.Helper()
	r := NewLineReader(src)
	var run []Text
	for {
		run, err = r.Next(run[:0])
		for _, l := range run {
			if l.Oversize {
				lines = append(lines, fmt.Sprintf("oversize %d", len(l.Bytes)))
				continue
			}
			lines = append(lines, string(l.Bytes))
		}
		if err != nil {
			return lines, err
		}
		if len(run) == 0 {
			t.Fatal("a run without a line and without an error")
		}
	}
}

func TestLinesOfAStream(t *testing.T) {
	longest := strings.Repeat("x", MaxLine)
	for _, tc := range []struct {
		name string
		in   string
		want []string
	}{
		{"an empty stream has no line", "", nil},
		{"lines end at LF", "a\nb\n", []string{"a", "b"}},
		{"a last line without LF counts", "a\nb", []string{"a", "b"}},
		{"one trailing CR is stripped", "a\r\nb\r\r\n", []string{"a", "b\r"}},
		{"a last CR without LF is stripped", "a\r", []string{"a"}},
		{"blank lines are passed over", "\n \t\r\n\u00a0\n a \n\n", []string{" a "}},
		{"a byte order mark at the start is removed", "\ufeffa\n\ufeffb\n", []string{"a", "\ufeffb"}},
		{"half a byte order mark is text", "\xef\xbb", []string{"\xef\xbb"}},
		{"invalid UTF-8 is left to the decoder", "a\xffb\n", []string{"a\xffb"}},
		{"exactly the limit is a line", longest + "\nb\n", []string{longest, "b"}},
		{"the limit is measured without CR LF", longest + "\r\nb", []string{longest, "b"}},
		{"one byte more is oversize, the next line is not touched", longest + "y\nb\n", []string{"oversize 8192", "b"}},
		{"a far longer line is discarded up to its LF", longest + longest + longest + "\nb", []string{"oversize 8192", "b"}},
		{"an oversize line at the end", "a\n" + longest + "yy", []string{"a", "oversize 8192"}},
		{"two oversize lines in a row", longest + "yy\n" + longest + "zz\nc", []string{"oversize 8192", "oversize 8192", "c"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			readers := map[string]io.Reader{
				"whole":      strings.NewReader(tc.in),
				"with error": iotest.DataErrReader(strings.NewReader(tc.in)),
				"halves":     iotest.HalfReader(strings.NewReader(tc.in)),
			}
			if len(tc.in) < 1000 {
				readers["bytes"] = iotest.OneByteReader(strings.NewReader(tc.in))
			}
			for how, src := range readers {
				got, err := readAll(t, src)
				if !errors.Is(err, io.EOF) {
					t.Errorf("read as %s: error %v, want EOF", how, err)
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("read as %s: got %.60q, want %.60q", how, got, tc.want)
				}
			}
		})
	}
}

func TestABrokenStreamGivesNoFragment(t *testing.T) {
	broken := errors.New("connection reset")
	got, err := readAll(t, io.MultiReader(strings.NewReader("a\nb"), iotest.ErrReader(broken)))
	if want := []string{"a"}; !slices.Equal(got, want) || !errors.Is(err, broken) {
		t.Errorf("got %q and %v, want %q and %v", got, err, want, broken)
	}
}

func TestARunIsWhatHasBeenRead(t *testing.T) {
	in, out := io.Pipe()
	t.Cleanup(func() { in.Close() })
	go out.Write([]byte("a\nb\nc"))
	run, err := NewLineReader(in).Next(nil)
	if err != nil || len(run) != 2 {
		t.Errorf("got %d lines and %v, want the 2 whole ones without waiting for the third", len(run), err)
	}
}

func TestHandedOutLinesStayAsTheyWere(t *testing.T) {
	var in bytes.Buffer
	for i := range 50_000 {
		fmt.Fprintf(&in, "line %d with some text\n", i)
	}
	r, all := NewLineReader(&in), []Text(nil)
	for {
		var err error
		if all, err = r.Next(all); err != nil {
			break
		}
	}
	if len(all) != 50_000 {
		t.Fatalf("got %d lines, want 50000", len(all))
	}
	for i, l := range all {
		if want := fmt.Sprintf("line %d with some text", i); string(l.Bytes) != want {
			t.Fatalf("line %d is %q, want %q", i, l.Bytes, want)
		}
	}
}

// The reader must agree with plain splitting on every stream without oversize
// lines, however it is delivered.
func FuzzLines(f *testing.F) {
	for _, s := range []string{"a\nb", "\ufeff\r\n\n", "\n\n\r", "a\r\nb\r\n \n", "\xef\xbb"} {
		f.Add([]byte(s), uint8(1))
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		var want []string
		for line := range bytes.SplitSeq(bytes.TrimPrefix(in, byteOrderMark), []byte("\n")) {
			line = bytes.TrimSuffix(line, []byte("\r"))
			if len(bytes.TrimSpace(line)) > 0 {
				want = append(want, string(line))
			}
		}
		got, err := readAll(t, stepReader{bytes.NewReader(in), 1 + int(step%7)})
		if !errors.Is(err, io.EOF) || !slices.Equal(got, want) {
			t.Errorf("got %q and %v, want %q", got, err, want)
		}
	})
}

type stepReader struct {
	src  io.Reader
	step int
}

func (r stepReader) Read(p []byte) (int, error) { return r.src.Read(p[:min(len(p), r.step)]) }

func BenchmarkOneLine(b *testing.B) {
	text := []byte(strings.Repeat("x", 300) + "\n")
	b.ReportAllocs()
	var run []Text
	for b.Loop() {
		r := NewLineReader(bytes.NewReader(text))
		for err := error(nil); err == nil; {
			run, err = r.Next(run[:0])
		}
	}
}

func BenchmarkLines(b *testing.B) {
	text := bytes.Repeat([]byte(strings.Repeat("x", 300)+"\n"), 10_000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	var run []Text
	for b.Loop() {
		r := NewLineReader(bytes.NewReader(text))
		for err := error(nil); err == nil; {
			run, err = r.Next(run[:0])
		}
	}
}
