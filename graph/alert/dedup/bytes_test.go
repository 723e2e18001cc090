package dedup

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/alert/incident"
)

// weigh counts the bytes that the alerts hold.
func (s *Store) weigh() int {
	n := 0
	for _, a := range s.alerts {
		n += len(a.key) + cap(a.memory)
	}
	return n
}

func TestAStoreIsFullWhenItsAlertsHoldTooManyBytes(t *testing.T) {
	c := Config{Fingerprint: selectors(t, "match.CommandLine"), Repeat: 60, Resolve: 3600, MaxActive: 1000}
	s := New(c)
	s.limit = 10_000
	line := func(of string, n int) string { return `"` + of + strings.Repeat("x", n) + `"` }
	pass := func(want, of string, n int) {
		t.Helper()
		if got := s.pass(detection(t, "rule", "CommandLine", line(of, n)), 0, incident.Ref{}); got != want {
			t.Errorf("%s with %d bytes %s, want that it %s", of, n, got, want)
		}
		if held := s.weigh(); s.bytes != held || held > s.limit {
			t.Errorf("%d bytes are counted of %d, want %d at most", s.bytes, held, s.limit)
		}
	}
	const full = "passes, the store is full"
	pass(full, "a value that never fits", 20_000)
	pass(full, "one whose key fits, but not its sample", 5000)
	pass("passes", "a", 2000)
	pass(full, "b", 2000)
	pass("folded", "a", 2000)
	pass("passes", "small", 10)
	data := s.save(t)
	s.tick(3600, never)
	if s.Len() != 0 || s.bytes != 0 {
		t.Errorf("%d alerts and %d bytes are left", s.Len(), s.bytes)
	}
	pass("passes", "b", 2000)

	// What is restored comes back whole, and counts.
	again := New(c)
	again.limit = 1000
	restoreInto(t, again, data)
	if again.Len() != 2 || again.bytes != again.weigh() {
		t.Errorf("%d alerts, and %d bytes are counted of %d", again.Len(), again.bytes, again.weigh())
	}
	if got := again.pass(detection(t, "rule", "CommandLine", `"new"`), 0, incident.Ref{}); got != full {
		t.Errorf("a new result %s", got)
	}
}
