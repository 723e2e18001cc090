package suggest

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	for _, tc := range []struct {
		name, word string
		known      []string
		want       string
	}{
		{"a letter too many", "sysmonn", []string{"ecs_windows", "sysmon"}, "sysmon"},
		{"a letter too few", "fil", []string{"stdout", "file"}, "file"},
		{"two letters swapped count once", "evalute", []string{"evaluate"}, "evaluate"},
		{"swapped and replaced", "praze", []string{"parse"}, "parse"},
		{"another letter", "dispatsh", []string{"dispatch"}, "dispatch"},
		{"two edits are too many in three letters", "foo", []string{"cos", "yes"}, ""},
		{"two edits in four letters", "htpt", []string{"http"}, "http"},
		{"two letters wrong in four", "hxxp", []string{"http"}, "http"},
		{"three edits are too many", "abcdef", []string{"abcxyz"}, ""},
		{"the nearest of two", "rule", []string{"rude1", "rules"}, "rules"},
		{"a word of which nothing is left", "x", []string{"jq", "a"}, ""},
		{"the case of letters does not count", "HIGH", []string{"low", "high"}, "high"},
		{"nor does it with a letter too few", "Contain", []string{"contains"}, "contains"},
		{"a name that nobody writes by hand", strings.Repeat("a", 65), []string{strings.Repeat("a", 64)}, ""},
		{"letters whose lower case is longer", strings.Repeat("Ⱥ", 31) + "ab", []string{strings.Repeat("Ⱥ", 31) + "ax"}, strings.Repeat("Ⱥ", 31) + "ax"},
		{"bytes that are no text", strings.Repeat("\xff", 63) + "a", []string{strings.Repeat("\xff", 63) + "x"}, strings.Repeat("\xff", 63) + "x"},
		{"nothing is known", "x", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := Nearest(tc.word, tc.known); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}
