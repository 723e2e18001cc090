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
