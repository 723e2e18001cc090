package deadletters

import "fmt"

// Summary is what became of the records, a line each. Verb is "replayed" or "would replay".
func (c *Counts) Summary(verb, input, target string) (lines []string) {
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	switch {
	case c.Lines > 0 && c.Deliveries > 0:
		add("%s %s to %s, and %s of %s to %s", verb, amount(c.Lines, "line"), input, amount(c.Results, "result"), amount(c.Deliveries, "dead letter"), target)
	case c.Deliveries > 0:
		add("%s %s of %s to %s", verb, amount(c.Results, "result"), amount(c.Deliveries, "dead letter"), target)
	case c.Lines > 0:
		add("%s %s to %s", verb, amount(c.Lines, "line"), input)
	default:
		add("%s nothing", verb)
	}
	if c.Before > 0 {
		add("an earlier replay was through with the first %s", amount(c.Before, "line"))
	}
	if c.Filtered > 0 {
		add("the filter left %s out", amount(c.Filtered, "dead letter"))
	}
	if c.NoInput > 0 {
		add("%s with lines left out: --addr sends them to a daemon", amount(c.NoInput, "dead letter"))
	}
	if c.NoTarget > 0 {
		add("%s with results left out: --to sends them to a sink, --webhook to the webhook that each names", amount(c.NoTarget, "dead letter"))
	}
	if c.Refused > 0 {
		add("%s refused", amount(c.Refused, "dead letter"))
	}
	if c.RefusedBefore > 0 {
		add("%s refused by an earlier replay: --restart sends everything again", amount(c.RefusedBefore, "dead letter"))
	}
	if c.Damaged > 0 {
		add("%s", amount(c.Damaged, "damaged line"))
	}
	if c.CutOff {
		add("the last line is not whole; the next replay looks at it again")
	}
	return lines
}
