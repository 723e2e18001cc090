package client

import (
	"strings"
	"testing"
)

func TestTokensAreTakenAsTheyAreOrRefused(t *testing.T) {
	const alone = ": set the variable to the token alone"
	for _, tc := range []struct{ name, text, token, fault string }{
		{"a token", "hunter2", "hunter2", ""},
		{"a token with a blank inside", "a b", "a b", ""},
		{"a token in another script", "ключ", "ключ", ""},
		{"the longest one", strings.Repeat("a", 60<<10), strings.Repeat("a", 60<<10), ""},
		{"an empty variable", "", "", ""},
		{"a variable of blanks", " \t\n", "", ""},
		{"a line break behind it", "hunter2\n", "", "the token in T ends with a line break, which belongs to the file that it was read from" + alone},
		{"a line break of Windows", "hunter2\r\n", "", "the token in T ends with a line break, which belongs to the file that it was read from" + alone},
		{"two lines", "hunter2\nhunter3", "", "the token in T holds control characters" + alone},
		{"another header", "hunter2\r\nX-Admin: yes", "", "the token in T holds control characters" + alone},
		{"a NUL byte", "hunter2\x00", "", "the token in T holds control characters" + alone},
		{"a delete character", "hunter\x7f2", "", "the token in T holds control characters" + alone},
		{"a blank in front", " hunter2", "", "the token in T begins or ends with a blank" + alone},
		{"a blank behind", "hunter2 ", "", "the token in T begins or ends with a blank" + alone},
		{"a wide blank behind", "hunter2\u00a0", "", "the token in T begins or ends with a blank" + alone},
		{"more than headers may have", strings.Repeat("a", 64<<10), "", "the token in T has 65536 bytes; at most 61440 can be sent"},
	} {
		got, err := readToken("T", tc.text)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if got != tc.token || text != tc.fault {
			t.Errorf("%s: got %.20q, %q, want %.20q, %q", tc.name, got, text, tc.token, tc.fault)
		}
		if strings.Contains(text, "hunter") {
			t.Errorf("%s: the error quotes the token", tc.name)
		}
	}
}
