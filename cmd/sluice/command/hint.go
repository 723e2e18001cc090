package command

import (
	"cmp"
	"fmt"

	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/engine"
)

// misplacedHint says what to do when most results come from rules of other products.
func misplacedHint(m step.Misplaced) string {
	if m.Events == "" {
		return fmt.Sprintf("hint: the results come from rules of several products (%s), and the events do not say which they are from: "+
			"say it, for example with --logsource-routing --event-logsource product=windows, or name a narrower directory with --rules", m.Results)
	}
	return fmt.Sprintf("hint: most results come from rules of products that the events are not from (results: %s; events: %s): "+
		"skip such rules with --logsource-routing, or name a narrower directory with --rules", m.Results, m.Events)
}

// skippedHint says why no rule could match.
func skippedHint(s step.Skipped) string {
	return fmt.Sprintf("hint: every rule was skipped for every event, since no log source of a rule fits theirs (products of the rules: %s; of the events: %s): "+
		"mend the log sources of the rules, or leave out --logsource-routing", cmp.Or(s.Rules, "none named"), cmp.Or(s.Events, "none stated"))
}

// shapeHint says what to do when rules do not look where events have their fields; renamed
// when a pipeline has them look elsewhere.
func shapeHint(shape engine.Shape, renamed bool) string {
	if renamed && shape != engine.Flat {
		return shapeHints[shape] + " in place of the pipeline that renames them"
	}
	return shapeHints[shape]
}

// shapeHints say which flag has the rules look where events of a shape have their fields.
var shapeHints = [engine.NumShapes]string{
	engine.Rendered: "hint: the events are Windows records as JSON (Event.System, Event.EventData), and the rules do not look into those objects: add -p windows_evtx",
	engine.Shipped:  "hint: the events are Windows records of Winlogbeat or Elastic Agent (winlog.event_data), and the rules do not look at the fields of those: add -p ecs_windows",
	engine.Flat:     "hint: the events are Windows records with flat fields (EventID, Channel), and the rules look for others: leave out the pipeline that renames them (-p)",
}
