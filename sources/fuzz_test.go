package sources

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

// What members hold is what was put in, whatever their number, the padding behind them and
// the pieces they arrive in; and no stream makes the reader hold more than its window.
func FuzzGzipMembers(f *testing.F) {
	f.Add([]byte("a\nb"), uint8(1), uint8(3), uint8(0))
	f.Add([]byte(strings.Repeat("{\"a\":1}\n", 50)), uint8(7), uint8(1), uint8(9))
	f.Add([]byte(""), uint8(0), uint8(0), uint8(200))
	z, err := gzip.NewWriterLevel(io.Discard, gzip.HuffmanOnly)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, cut, step, padding uint8) {
		size := 1 + int(cut)
		var stream bytes.Buffer
		for rest := text; ; {
			n := min(size, len(rest))
			z.Reset(&stream)
			_, _ = z.Write(rest[:n])
			_ = z.Close()
			if rest = rest[n:]; len(rest) == 0 || stream.Len() > 1<<16 {
				text = text[:len(text)-len(rest)]
				break
			}
		}
		stream.Write(make([]byte, padding))
		got, err := io.ReadAll(NewInflatingReader(stepReader{&stream, 1 + int(step)}))
		if err != nil || !bytes.Equal(got, text) {
			t.Errorf("got %q and %v, want %q", got, err, text)
		}
	})
}

// A stream that only begins like gzip ends with an error or with what it holds, the same
// in whatever pieces it arrives.
func FuzzInflatingReader(f *testing.F) {
	a := member("{\"a\":1}\n")
	for _, s := range []string{a, a + a, a[:len(a)-3], a + "\x00\x00", a + "x", "\x1f\x8b", "\x1f", "BZh9", "\x28\xb5\x2f\xfd", "", "text", a[:10] + "\xff\xff\xff"} {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(6))
	}
	const most = 1 << 20 // of what is read: a bomb ends there
	f.Fuzz(func(t *testing.T, stream []byte, step uint8) {
		want, wantErr := io.ReadAll(io.LimitReader(NewInflatingReader(bytes.NewReader(stream)), most))
		got, err := io.ReadAll(io.LimitReader(NewInflatingReader(stepReader{bytes.NewReader(stream), 1 + int(step)}), most))
		if !bytes.Equal(got, want) || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Errorf("whole %q and %v, in pieces %q and %v", want, wantErr, got, err)
		}
		if z := []byte("\x1f\x8b"); err == nil && !bytes.HasPrefix(stream, z) && !bytes.Equal(got, stream) {
			t.Errorf("got %q of %q", got, stream)
		}
	})
}

// Whatever a stream begins with, it is read as lines or as values, in whatever pieces it
// arrives, and nothing of it is lost.
func FuzzSniffingReader(f *testing.F) {
	for _, s := range []string{
		"{\"a\":1}\n{\"a\":2}\n", "[\n{\"a\":1},\n{\"b\":2}]", "{\n\"a\":1}{\"b\":2}", "\n \n{\n", "[INFO] x\n{}", "\ufeff{\n}", "[{\"a\":\n1}", "\"a\nb", "{\"a\":1}\r\n\r\n", "[\n]\n", "\ufeff\ufeff", "\ufeff\ufeff{\n}",
	} {
		f.Add([]byte(s), uint8(0))
		f.Add([]byte(s), uint8(4))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		want, _ := readTexts(t, new(Buffers).NewSniffingReader(bytes.NewReader(in), 0))
		got, err := readTexts(t, new(Buffers).NewSniffingReader(stepReader{bytes.NewReader(in), 1 + int(step)}, 0))
		if !errors.Is(err, io.EOF) || !slices.Equal(got, want) {
			t.Errorf("got %q and %v, want %q", got, err, want)
		}
		lines, _ := readTexts(t, new(Buffers).NewReader(bytes.NewReader(in)))
		values, _ := readTexts(t, new(Buffers).NewValueReader(bytes.NewReader(in)))
		if !slices.Equal(got, lines) && !slices.Equal(got, values) {
			t.Errorf("got %q, as lines %q, as values %q", got, lines, values)
		}
		if head := bytes.TrimLeft(bytes.TrimPrefix(in, byteOrderMark), " \t\r\n"); len(head) > 0 && head[0] != '{' && head[0] != '[' && !slices.Equal(got, lines) {
			t.Errorf("got %q, want the lines %q", got, lines)
		}
	})
}
