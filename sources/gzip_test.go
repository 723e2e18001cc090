package sources

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestGzipIsInflatedAndAllElseIsNot(t *testing.T) {
	broken := errors.New("input/output error")
	a := zipped(t, `{"a":1}`+"\n")
	of := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	for _, tc := range []struct {
		name string
		in   func() io.Reader
		want string
		err  string
	}{
		{"text is read as it is", of("{\"a\":1}\n"), "{\"a\":1}\n", ""},
		{"an empty stream", of(""), "", ""},
		{"a stream of the first byte of gzip alone", of("\x1f"), "\x1f", ""},
		{"a first byte like that of gzip", of("\x1fabc"), "\x1fabc", ""},
		{"gzip", of(a), "{\"a\":1}\n", ""},
		{"several members", of(a + a), "{\"a\":1}\n{\"a\":1}\n", ""},
		{"gzip in gzip is inflated once", of(zipped(t, a)), a, ""},
		{"gzip that breaks off", of(a[:len(a)-4]), "{\"a\":1}\n", "inflate gzip: it ends too early"},
		{"gzip that is nothing but its mark", of(gzipMagic), "", "inflate gzip: it ends too early"},
		{"damaged gzip", of(a[:len(a)-5] + "xxxxx"), "{\"a\":1}\n", "inflate gzip: gzip: invalid checksum"},
		{"something else behind gzip", of(a + "{}\n"), "{\"a\":1}\n", "inflate gzip: it ends too early"},
		{"a stream that fails", func() io.Reader { return iotest.ErrReader(broken) }, "", broken.Error()},
		{"a stream that fails behind its first byte", func() io.Reader { return io.MultiReader(strings.NewReader("\x1f"), iotest.ErrReader(broken)) }, "\x1f", broken.Error()},
	} {
		for _, pieces := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader, iotest.DataErrReader} {
			t.Run(tc.name, func(t *testing.T) {
				got, err := io.ReadAll(NewInflatingReader(pieces(tc.in())))
				if string(got) != tc.want || (err == nil) != (tc.err == "") || err != nil && err.Error() != tc.err {
					t.Errorf("got %q and %v, want %q and %q", got, err, tc.want, tc.err)
				}
			})
		}
	}
}

// The mark is told once, however the stream arrives.
func TestTheMarkOfGzip(t *testing.T) {
	for _, tc := range []struct {
		name   string
		pieces []string
		want   int // the piece that shows it
	}{
		{"in one piece", []string{"\x1f\x8b\x08", "\x1f\x8b"}, 0},
		{"in two", []string{"\x1f", "", "\x8b"}, 2},
		{"later in the stream", []string{"a\n", "\x1f\x8b"}, -1},
		{"half of it", []string{"\x1f", "a\x1f\x8b"}, -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var m GzipMark
			for i, p := range tc.pieces {
				if got := m.In([]byte(p)); got != (i == tc.want) {
					t.Errorf("piece %d: %t", i, got)
				}
			}
		})
	}
}

// A first event is there before the stream says more.
func TestInflatingHoldsNothingBack(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	go func() { _, _ = w.Write([]byte("{}\n")) }()
	b := make([]byte, 3)
	if _, err := io.ReadFull(NewInflatingReader(r), b); err != nil || string(b) != "{}\n" {
		t.Errorf("got %q, %v", b, err)
	}
}
