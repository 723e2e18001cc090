package bundle

import "testing"

func TestTextsAreHarmless(t *testing.T) {
	for _, tc := range []struct{ name, text, plain, code, lines string }{
		{"letters of all languages", "Grüße, 漢字 שלום 🙂", "Grüße, 漢字 שלום 🙂", "`Grüße, 漢字 שלום 🙂`", "Grüße, 漢字 שלום 🙂"},
		{"tabs", "a\tb", "a\tb", "`a\tb`", "a\tb"},
		{"line feeds", "a\r\nb\rc\nd", "a b c d", "`a b c d`", "a\nb\nc\nd"},
		{"a sequence for a terminal", "a\x1b[2Jb", "a\ufffd\\[2Jb", "`a\ufffd[2Jb`", "a\ufffd\\[2Jb"},
		{"control characters", "a\x00\x07\x08\vb", "a\ufffd\ufffd\ufffd\ufffdb", "`a\ufffd\ufffd\ufffd\ufffdb`", "a\ufffd\ufffd\ufffd\ufffdb"},
		{"delete", "a\x7fb", "a\ufffdb", "`a\ufffdb`", "a\ufffdb"},
		{"a control character of two bytes", "a\u009b2Jb", "a\ufffd2Jb", "`a\ufffd2Jb`", "a\ufffd2Jb"},
		{"overrides of the direction", "a\u202eb\u202cc\u202ad", "a\ufffdb\ufffdc\ufffdd", "`a\ufffdb\ufffdc\ufffdd`", "a\ufffdb\ufffdc\ufffdd"},
		{"isolates", "a\u2066b\u2069c\u200fd", "a\ufffdb\ufffdc\ufffdd", "`a\ufffdb\ufffdc\ufffdd`", "a\ufffdb\ufffdc\ufffdd"},
		{"separators of lines", "a\u2028b\u2029c", "a\ufffdb\ufffdc", "`a\ufffdb\ufffdc`", "a\ufffdb\ufffdc"},
		{"what is no UTF-8", "a\xffb", "a\ufffdb", "`a\ufffdb`", "a\ufffdb"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for what, got := range map[string][2]string{"plain": {plain(tc.text), tc.plain}, "code": {code(tc.text), tc.code}, "lines": {lines(tc.text), tc.lines}} {
				if got[0] != got[1] {
					t.Errorf("%s: got %q, want %q", what, got[0], got[1])
				}
			}
		})
	}
}
