package deadletters

import (
	"fmt"

	"github.com/sluicehq/sluice/internal/plural"
)

// Summary is what became of the records, a line each. Verb is "replayed" or "would replay".
func (c *Counts) Summary(verb, input, target string) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	switch {
	case c.Lines > 0 && c.Deliveries > 0:
		add("%s %s to %s, and %s of %s to %s", verb, plural.Of(c.Lines, "line"), input, plural.Of(c.Results, "result"), plural.Of(c.Deliveries, "dead letter"), target)
	case c.Deliveries > 0:
		add("%s %s of %s to %s", verb, plural.Of(c.Results, "result"), plural.Of(c.Deliveries, "dead letter"), target)
	case c.Lines > 0:
		add("%s %s to %s", verb, plural.Of(c.Lines, "line"), input)
	default:
		add("%s nothing", verb)
	}
	if c.Before > 0 {
		add("an earlier replay was through with the first %s", plural.Of(c.Before, "line"))
	}
	if c.Filtered > 0 {
		add("the filter left %s out", plural.Of(c.Filtered, "dead letter"))
	}
	if c.NoInput > 0 {
		add("%s with lines left out: --addr sends them to a daemon", plural.Of(c.NoInput, "dead letter"))
	}
	if c.NoTarget > 0 {
		add("%s with results left out: --to sends them to a sink, --webhook to the webhook that each names", plural.Of(c.NoTarget, "dead letter"))
	}
	if c.Refused > 0 {
		add("%s refused", plural.Of(c.Refused, "dead letter"))
	}
	if c.RefusedBefore > 0 {
		add("%s refused by an earlier replay: --restart sends everything again", plural.Of(c.RefusedBefore, "dead letter"))
	}
	if c.Damaged > 0 {
		add("%s", plural.Of(c.Damaged, "damaged line"))
	}
	if c.CutOff {
		add("the last line is not whole; the next replay looks at it again")
	}
	return lines
}
