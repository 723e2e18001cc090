package step_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
)

func TestBatchesAndResultSetsTellWhatTheirResultsHold(t *testing.T) {
	const long = 100 << 10
	set, g := ruleSet(t, whoami+"---\n"+login+counting("count", "user", 3)), new(step.Sequential)
	heavy := `{"CommandLine":"whoami ` + strings.Repeat("x", long) + `"}`
	b := detected(set, `{"CommandLine":"nobody"}`, heavy, `{"CommandLine":"whoami"}`, user("ann", 1), user("ann", 2), user("ann", 3))
	c := newCorrelate(set, 0)
	c.Begin(g, b, 0)
	held, all := make([]int, len(b.Lines)), 0
	for i := range b.Lines {
		if _, err := c.Count(g, b, i, 0); err != nil {
			t.Fatal(err)
		}
		if results := c.Merge(b, i); results != nil {
			held[i] = results.Held
			all += results.Held
			if units, bytes := graph.SizeOfResultSet(results); units != 1 || bytes != len(results.Raw)+results.Held {
				t.Errorf("line %d: %d units and %d bytes, want 1, and line and results", i, units, bytes)
			}
		}
	}
	c.End()
	if held[0] != 0 || held[1] < long || held[1] > long+8<<10 || held[2] == 0 || held[2] > 8<<10 {
		t.Errorf("the results of the lines hold %v bytes, want none of the first, the long value of the second, and little of the third", held)
	}
	if firing := held[5] - held[4]; firing < 100 || firing > 1000 {
		t.Errorf("a line whose event fires holds %d bytes more, want those of a correlation result", firing)
	}
	if b.Held < long || b.Held > all {
		t.Errorf("the batch holds %d bytes, want those of its detections and matches (all results: %d)", b.Held, all)
	}
	again := detected(set, user("ann", 1))
	if again.Held >= long || again.Held == 0 {
		t.Errorf("a small batch holds %d bytes, want few", again.Held)
	}
}
