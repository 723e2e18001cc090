package program

import (
	"cmp"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
)

func TestKeysAreComparedAsTheyAreShown(t *testing.T) {
	parts := []string{"", "a", "ab", "a, ", "a, b", "a, y=", "a, y=b", "b", "<", "<none>", "<none>x", "ä", "\x00", "\xff", "Z", ",", "=", strings.Repeat("a", 1024)}
	for _, groupBy := range []string{"[x]", "[x, y]", "[x, y, z]"} {
		c := compileText(t, "title: c\ncorrelation: {type: event_count, rules: [d-login], timespan: 1m, group-by: "+groupBy+", condition: {gte: 1}}\n", Options{}).At(0)
		var keys []string
		var grow func(key []byte, left int)
		grow = func(key []byte, left int) {
			if left == 0 {
				keys = append(keys, string(key))
				return
			}
			step := 1 + 2*(len(c.Source.GroupBy)-1)
			for i := 0; i < len(parts); i += step {
				grow(match.AppendPart(key[:len(key):len(key)], parts[i]), left-1)
			}
			grow(match.AppendMissing(key[:len(key):len(key)]), left-1)
		}
		grow(nil, len(c.Source.GroupBy))
		for _, a := range keys {
			for _, b := range keys {
				want := cmp.Or(strings.Compare(c.Display(a), c.Display(b)), strings.Compare(a, b))
				if got := c.Compare(a, b); got != want {
					t.Fatalf("%q and %q compare as %d, want %d", c.Display(a), c.Display(b), got, want)
				}
			}
		}
	}
}
