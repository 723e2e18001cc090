package clip

import "testing"

func TestText(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		most       int
		want       string
	}{
		{"a text that fits", "abcdef", 6, "abcdef"},
		{"one that does not", "abcdefg", 6, "abc..."},
		{"no character is cut in two", "abééé", 6, "ab..."},
		{"nor where there is room for it", "abééé", 8, "abééé"},
		{"room for the dots alone", "abcdef", 3, "..."},
		{"no room", "abcdef", 0, "..."},
		{"bytes that are no text", "\x80\x80\x80\x80\x80", 4, "..."},
	} {
		if got := Text(tc.text, tc.most); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}
