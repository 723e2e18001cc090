//go:build !race

package dedup

import (
	"testing"

	"github.com/sluicehq/sluice/graph/alert/incident"
)

func TestFoldingCostsNoMemory(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp", "level", "match.None"), Repeat: 60, Resolve: 3600, MaxActive: 10})
	r := fromIP(t, "10.0.0.1")
	s.pass(r, 0, incident.Ref{})
	now := int64(0)
	if n := testing.AllocsPerRun(1000, func() {
		if s.pass(r, now, incident.Ref{}) != "folded" {
			t.Fatal("it is not folded")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(1000, func() { s.Tick(0, never, func(*Summary) {}, func(incident.Ref) {}) }); n != 0 {
		t.Errorf("%v allocations in a tick with nothing due", n)
	}
}

func TestResultsThatFindTheStoreFullCostNoMemory(t *testing.T) {
	s := New(Config{Fingerprint: selectors(t, "match.SourceIp"), Resolve: 3600, MaxActive: 1})
	s.pass(fromIP(t, "10.0.0.1"), 0, incident.Ref{})
	r := fromIP(t, "10.0.0.2")
	if n := testing.AllocsPerRun(1000, func() { s.pass(r, 0, incident.Ref{}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
