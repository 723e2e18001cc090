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
				text := bytes.Repeat([]byte{fill}, 20)
				text[at] = byte(c)
				want := string(text)
				if !utf8.ValidString(want) {
					want = strings.ToValidUTF8(want, "\uFFFD")
				}
				var got string
				if err := json.Unmarshal(appendString(nil, text), &got); err != nil || got != want {
					t.Fatalf("%q: got %q, %v", text, got, err)
				}
			}
		}
	}
}
