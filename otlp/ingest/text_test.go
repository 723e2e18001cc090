package ingest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// Every byte at every place of a text, long ones included, comes back from JSON.
func TestTextsAreEscapedWhereverTheByteStands(t *testing.T) {
	for _, fill := range []byte{'0', 'z', 0x7f, '!', '#', ']', '[', ' '} {
		for at := range 20 {
			for c := range 256 {
				text := bytes.Repeat([]byte{fill}, 40)[:20]
				text[at] = byte(c)
				want := string(text)
				if !utf8.ValidString(want) {
					want = strings.ToValidUTF8(want, "\uFFFD")
				}
				for _, part := range [][]byte{text, text[:len(text):len(text)]} { // with bytes behind it, and without
					var got string
					if err := json.Unmarshal(appendString(nil, part), &got); err != nil || got != want {
						t.Fatalf("%q: got %q, %v", text, got, err)
					}
				}
			}
		}
	}
}

// A text of nothing but one byte, however long, is written whole.
func TestTextsOfOneByte(t *testing.T) {
	for _, c := range []byte{0, '\b', '\f', '"', '\\', 'a', 0x80, 0xff} {
		for n := range 200 {
			text := bytes.Repeat([]byte{c}, n)
			var got string
			err := json.Unmarshal(appendString(make([]byte, 0, n), text), &got)
			if want := string([]rune(string(text))); err != nil || got != want {
				t.Fatalf("%d times %q: got %q, %v", n, c, got, err)
			}
		}
	}
}
