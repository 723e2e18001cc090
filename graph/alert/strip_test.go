package alert

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/native"
)

// Events are taken out of what goes on, once all that reads them has read them.
func TestResultsAreGroupedByTheEventsThatTheyLose(t *testing.T) {
	l := newTimeline(t, `{strip_event: true, scope: {levels: [high]}, group: {by: [event.k]}}`)
	l.advance(0)
	pass := func(level, k string) string {
		t.Helper()
		r, err := native.Parse([]byte(`{"rule_title":"A","rule_id":"a","level":"` + level + `","tags":[],"matched_selections":["s"],"matched_fields":[],"event":{"k":"` + k + `"}}`))
		if err != nil {
			t.Fatal(err)
		}
		set := graph.ResultSet{Results: []graph.Result{*r}}
		set.Held = r.Size()
		l.pipeline.Process(&set, 0)
		if len(set.Results) != 1 {
			t.Fatal("the result does not go on")
		}
		if set.Held < 0 || strings.Contains(string(r.AppendNative(nil)), "incident_id") {
			t.Errorf("%d bytes are held, and the result of others is %s", set.Held, r.AppendNative(nil))
		}
		return string(set.Results[0].AppendNative(nil))
	}
	one, two, again, outside := pass("high", "v1"), pass("high", "v2"), pass("high", "v1"), pass("low", "v1")
	for _, line := range []string{one, two, again} {
		if strings.Contains(line, `"event"`) || !strings.Contains(line, `"incident_id"`) {
			t.Errorf("what goes on is %s", line)
		}
	}
	if one != again || one == two {
		t.Errorf("the values are not told apart:\n%s\n%s\n%s", one, two, again)
	}
	if !strings.Contains(outside, `"event":{"k":"v1"}`) {
		t.Errorf("a result that is out of scope loses its event: %s", outside)
	}
	var groups []string
	l.pipeline.Tick(30, func(r graph.Record) {
		line := string(r.AppendNative(nil))
		_, group, _ := strings.Cut(line, `"group_by":`)
		group, _, _ = strings.Cut(group, "}")
		groups = append(groups, group)
	})
	if got := strings.Join(groups, " "); got != `{"event.k":"v1" {"event.k":"v2"` && got != `{"event.k":"v2" {"event.k":"v1"` {
		t.Errorf("groups %s", got)
	}
}
