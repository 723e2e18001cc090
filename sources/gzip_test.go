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
		{"gzip that is nothing but its mark", of("\x1f\x8b"), "", "inflate gzip: it ends too early"},
		{"another encoding", of("\x28\xb5\x2f\xfd"), "", "it is zstd, which is not read: send it through zstd -dc FILE"},
		{"text that begins like another encoding", of("BZh91AY"), "BZh91AY", ""},
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
func TestTheMarkOfAnEncoding(t *testing.T) {
	for _, tc := range []struct {
		name   string
		pieces []string
		want   int // the piece that shows it
		is     Encoding
	}{
		{"gzip in one piece", []string{"\x1f\x8b\x08", "\x1f\x8b"}, 0, Gzip},
		{"gzip in two", []string{"\x1f", "", "\x8b"}, 2, Gzip},
		{"gzip later in the stream", []string{"a\n", "\x1f\x8b"}, -1, Text8},
		{"half of gzip", []string{"\x1f", "a\x1f\x8b"}, -1, Text8},
		{"UTF-16 of either order", []string{"\xff\xfe{\x00"}, 0, UTF16},
		{"UTF-16 of the other", []string{"\xfe", "\xff\x00{"}, 1, UTF16},
		{"a byte order mark of UTF-8", []string{"\xef\xbb\xbf{}"}, -1, Text8},
		{"xz", []string{"\xfd7zXZ", "\x00"}, 1, XZ},
		{"zstd", []string{"\x28\xb5", "\x2f\xfd"}, 1, Zstd},
		{"bzip2", []string{"BZh9", "1AY&SY"}, 1, Bzip2},
		{"text that begins like bzip2", []string{"BZh91AY&SZ"}, -1, Text8},
		{"text that begins like bzip2 without a digit", []string{"BZhx1AY&SY"}, -1, Text8},
		{"zip", []string{"PK\x03\x04"}, 0, Zip},
		{"text that begins like zip", []string{"PK is a format"}, -1, Text8},
		{"the event log of Windows", []string{"ElfFile", "\x00"}, 1, EventLog},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var m Mark
			for i, p := range tc.pieces {
				want := Text8
				if i == tc.want {
					want = tc.is
				}
				if got := m.In([]byte(p)); got != want {
					t.Errorf("piece %d: %s", i, got)
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
