package format

import (
	"strings"
	"testing"
)

func TestAnOutlineShowsTheKindOfALineAndNotWhatItSays(t *testing.T) {
	for _, tc := range []struct{ name, line, want string }{
		{"an empty line", "", ""},
		{"a line of a system log", "Nov 23 01:02:03 host sshd[7]: root", "aaa 99 99:99:99 aaaa aaaa[9]: aaaa"},
		{"JSON that is cut", `{"user":"Secret_1"`, `{"aaaa":"aaaaaa_9"`},
		{"XML", "<Event xmlns='u'>", "<aaaaa aaaaa='a'>"},
		{"compressed bytes", "\x1f\x8b\x08\x00", ".?.."},
		{"letters that are not ASCII", "\u00e9\x7f", "??."},
		{"the length that fits", strings.Repeat("x", outlined), strings.Repeat("a", outlined)},
		{"a longer line", strings.Repeat("x", outlined+1), strings.Repeat("a", outlined) + "..."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Outline([]byte(tc.line)); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
