package command

import (
	"fmt"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/graph/filter"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/internal/clip"
	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/sigma/engine"
)

// tally counts what became of lines.
type tally struct {
	events, undecoded uint64 // a line that does not decode is an event, too
	logs              bool   // files of the event log are among the input
	records           uint64 // read from them, or not readable
	suspects          uint64 // lines that begin like JSON and were taken as text
	lines, empty      uint64 // read, and of them without an event
	matches           uint64 // detections written
	firings           uint64 // results of rules over several events
	failed            uint64 // lines that made a step panic
	failure           error  // of the last of them
	first             fault
	format            format.Format // of the lines
	engine.Stats
}

func (t *tally) fail(poisoned ...step.Poisoned) {
	for _, p := range poisoned {
		t.failed, t.failure = t.failed+1, p.Cause
	}
}

// summarise prints what an evaluation came to; matches says it of the results.
func summarise(out *console, o *config.Eval, t *tally, matches string) {
	t.tellFault(out)
	text := fmt.Sprintf("Processed %s, %s", t.processed(), matches)
	if t.undecoded > 0 {
		text += fmt.Sprintf(", %d not decoded", t.undecoded)
	}
	if t.failed > 0 {
		fmt.Fprintf(out.Err, "error: %s could not be evaluated, the last one: %v\n", plural.Of(t.failed, "event"), t.failure)
	}
	out.summary("%s.", text)
	if o.LogsourceRouting.Enabled {
		out.summary("%s", t.routed())
	}
}

// processed says how much was read.
func (t *tally) processed() string {
	switch {
	case !t.logs:
		return plural.Of(t.events, "event")
	case t.records == t.events:
		return plural.Of(t.records, "EVTX record")
	}
	return plural.Of(t.records, "EVTX record") + ", " + plural.Of(t.events, "event") + " in all"
}

// routed says what routing by log source came to.
func (t *tally) routed() string {
	checks, have := "checks", "events have"
	if t.Pruned == 1 {
		checks = "check"
	}
	if t.WithoutLogsource == 1 {
		have = "event has"
	}
	return fmt.Sprintf("Log sources: %s rule %s skipped; %s %s no log source.", grouped(t.Pruned), checks, grouped(t.WithoutLogsource), have)
}

// grouped writes a number with commas between the thousands.
func grouped(n uint64) string {
	text := strconv.FormatUint(n, 10)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// hintJSON says what to do about lines that look like JSON and are none. It is the last
// line that an evaluation prints.
func (t *tally) hintJSON(out *console) {
	todo := "taken as plain text"
	if t.first.unfinished { // a value on several lines, which jq can put on one
		todo = "one event per line, for example with jq -c ."
	}
	switch {
	case t.suspects > 0 && t.format == format.Syslog:
		out.note("%s like JSON, with no header of syslog in front: --input-format auto or json reads JSON", plural.Either(t.suspects, "line begins", "lines begin"))
	case t.suspects > 0:
		out.note("%s not valid: %s", plural.Either(t.suspects, "line begins like JSON but is", "lines begin like JSON but are"), todo)
	}
}

// hintFilter says how many lines the event filter, if there is one, has filtered in part
// only, and that it left no event of most.
func (t *tally) hintFilter(out *console, f *filter.Filter) {
	if f == nil {
		return
	}
	part := f.Take()
	if part.Failed > 0 {
		out.note("the event filter failed on %s, the last time with: %s", plural.Of(part.Failed, "line"), clip.Text(part.Failure.Error(), 200))
	}
	if part.Cut > 0 {
		out.note("the event filter went beyond its bounds on %s, the last time: %s", plural.Of(part.Cut, "line"), part.Bound)
	}
	if 2*t.empty > t.lines {
		out.note("the event filter left no event of %d of %s", t.empty, plural.Of(t.lines, "line"))
	}
}

// progress is a line that overwrites itself on a terminal during long inputs.
type progress struct {
	on     bool
	extent *extent // nil when it is not known
	begun  time.Time
	last   time.Time
	shown  bool
}

const (
	progressDelay = time.Second
	progressEvery = 200 * time.Millisecond
)

func (p *progress) show(out *console, t *tally, now time.Time) {
	if !p.on {
		return
	}
	if p.begun.IsZero() {
		p.begun = now
	}
	if now.Sub(p.begun) < progressDelay || now.Sub(p.last) < progressEvery {
		return
	}
	p.last, p.shown = now, true
	rate := float64(t.events) / now.Sub(p.begun).Seconds()
	fmt.Fprintf(out.Err, "\r%s, %s, %.0f events/s%s\x1b[K", plural.Of(t.events, "event"), matchCount(t.matches+t.firings, ""), rate, p.extent.text())
}

func (p *progress) clear(out *console) {
	if p.shown {
		fmt.Fprint(out.Err, "\r\x1b[K")
		p.shown = false
	}
}
