//go:build !race

package selector

import "testing"

// Under the race detector the pool of regular expressions forgets at random.
func TestMatchingCostsNoMemory(t *testing.T) {
	set, err := CompileAll([]Condition{{"rule", Equal, "r-os"}, {"match.win.user", Like, ".*é"}, {"event.o.p", NotEqual, ""}, {"enrichment.geo.city", Like, "O.*"}})
	if err != nil {
		t.Fatal(err)
	}
	r, scratch := detection(), make([]byte, 0, 256)
	if n := testing.AllocsPerRun(100, func() {
		var ok bool
		if ok, scratch = set.Match(r, scratch); !ok {
			t.Fatal("no match")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// What a selector is shown as is a selector of the same value.
func FuzzSelectorsAreShownAsTheyAreRead(f *testing.F) {
	for _, text := range []string{"rule", " event..a.b ", "match. x", "enrichment.a", "correlation.group_key.x", "event. . "} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || again.String() != s.String() || again.rest != s.rest || again.space != s.space {
			t.Errorf("%q is shown as %q, which is %q, %v", text, s.String(), again.String(), err)
		}
		s.AppendText(nil, detection())
	})
}

// What a matcher asks of a text beforehand does not change what matches.
func FuzzExpressionsMatchAsWithoutTheirParts(f *testing.F) {
	for _, expression := range []string{".*tool-5.*", "(?i)abc", "a(bc)+d", "(?:ab){0,2}x", "(?:ab){2}", "a|b", "", "\ufffdx.*", `\Qa.b`, "(?i:a)bc", "[a]bc", "a$|^b", `\bab\b`, "(?s).+é"} {
		for _, text := range []string{"a tool-55", "ABC", "abcbcd", "x", "abab", "b", "", "\xffxy", "a.b", "é"} {
			f.Add(expression, text)
		}
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		if len(expression) > 200 {
			return
		}
		m, err := Compile(Condition{"rule", Like, expression})
		if err != nil {
			return
		}
		if got, want := m.MatchesText([]byte(text)), m.expression.MatchString(text); got != want {
			t.Errorf("%q of %q: got %v, want %v, with the part %q", expression, text, got, want, m.part)
		}
	})
}
