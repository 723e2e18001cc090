package plural

import "testing"

func TestOneThingIsSingular(t *testing.T) {
	for _, tc := range []struct{ name, got, want string }{
		{"none", Of(0, "rule"), "0 rules"},
		{"one", Of(1, "rule"), "1 rule"},
		{"several", Of(uint64(2), "rule"), "2 rules"},
		{"none, in a sentence", Either(0, "line begins", "lines begin"), "0 lines begin"},
		{"one, in a sentence", Either(1, "line begins", "lines begin"), "1 line begins"},
		{"several, in a sentence", Either(21, "line begins", "lines begin"), "21 lines begin"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, tc.got, tc.want)
		}
	}
}
