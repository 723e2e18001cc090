package sources

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
)

// member is a gzip member that holds text.
func member(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write([]byte(text))
	_ = z.Close()
	return b.String()
}

func TestMembersOfGzip(t *testing.T) {
	zeros := strings.Repeat("\x00", 100)
	for _, tc := range []struct {
		name, in, want string
		err            error
	}{
		{"one member", member("a"), "a", nil},
		{"several members", member("a") + member("") + member("bc"), "abc", nil},
		{"an empty one", member(""), "", nil},
		{"zero bytes behind the last one are padding", member("a") + member("b") + zeros, "ab", nil},
		{"there may be no more of them than blocks leave", member("a") + strings.Repeat("\x00", maxPadding+1), "a", gzip.ErrHeader},
		{"a member behind padding is none", member("a") + zeros + member("b"), "a", gzip.ErrHeader},
		{"something else behind a member", member("a") + "text that is no gzip", "a", gzip.ErrHeader},
		{"a header that is cut off", member("a") + member("b")[:5], "a", io.ErrUnexpectedEOF},
		{"a member that is cut off", member("a") + member("bcd")[:15], "a", io.ErrUnexpectedEOF},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := NewGzipReader(strings.NewReader(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(r)
			if !strings.HasPrefix(string(got), tc.want) || tc.err == nil && string(got) != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("got %q and %v, want %q and %v", got, err, tc.want, tc.err)
			}
		})
	}
	if _, err := NewGzipReader(strings.NewReader("")); !errors.Is(err, io.EOF) {
		t.Errorf("an empty stream gives %v, want io.EOF", err)
	}
}

func TestAMemberIsHandedOverBeforeTheNextOneIsThere(t *testing.T) {
	in, out := io.Pipe()
	defer in.Close()
	go func() { _, _ = out.Write([]byte(member("first\n"))) }() // and nothing more
	r, err := NewGzipReader(in)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 100)
	if n, err := r.Read(got); err != nil || string(got[:n]) != "first\n" {
		t.Errorf("got %q and %v, want the first member", got[:n], err)
	}
}
