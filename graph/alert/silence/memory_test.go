//go:build !race

package silence

import "testing"

// Under the race detector the pool of regular expressions forgets at random.
func TestMutingCostsNoMemory(t *testing.T) {
	r := everyday(t)
	for _, s := range sets {
		if s.name == "1000_regex" { // slow
			continue
		}
		set := filled(t, s.starts, s.matchers)
		set.Mutes(r, 100)
		if n := testing.AllocsPerRun(20, func() { set.Mutes(r, 100); set.MutesSample(r, 100); set.Expire(100) }); n != 0 {
			t.Errorf("%s: %v allocations", s.name, n)
		}
	}
}
