//go:build !race

package inhibit

import "testing"

// Under the race detector the pool of regular expressions forgets at random.
func TestInhibitingCostsNoMemory(t *testing.T) {
	x := full(t)
	source, target, now := result(t, "critical", "SourceIp=5000"), result(t, "high", "SourceIp=5000"), int64(299)
	x.Observe(source, now)
	x.Expire(now)
	if n := testing.AllocsPerRun(100, func() {
		now++
		x.Observe(source, now)
		_, is := x.Inhibits(target, now)
		if _, also := x.InhibitsSample(target, now); !is || !also {
			t.Error("the target passes")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
