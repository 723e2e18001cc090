package shell

import "testing"

func TestTheManualPageEscapesWhatTheLanguageKnows(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"a dash is one that can be copied", "--rules", `\-\-rules`},
		{"a backslash is a backslash", `C:\Windows`, `C:\eWindows`},
		{"a point in front is no request", ".sluice.yaml", `\&.sluice.yaml`},
		{"a quote in front is no request", "'x'", `\(aqx\(aq`},
	} {
		if got := roff(tc.text); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
	}
}
