package graph

import (
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
)

// OutcomeKind says what became of a line in parse.
type OutcomeKind uint8

// The outcomes.
const (
	Decoded     OutcomeKind = iota // has its events
	Filtered                       // the event filter left nothing; the token is settled
	Undecodable                    // a parse error: the line goes to the dead letter queue
	Quarantined                    // taken out by an earlier stage; nobody looks at it any more
)

// Span is a half-open range of indexes.
type Span struct{ From, To uint32 }

// Len is the number of indexes in s.
func (s Span) Len() int { return int(s.To - s.From) }

// LineOutcome is what the stages found out about one line of a batch.
type LineOutcome struct {
	Kind    OutcomeKind
	Events  Span   // into Batch.Events
	Results Span   // into Batch.Results: events are evaluated in order, so a line's lie together
	Matches Span   // into Batch.Matches, in the same order
	Held    uint32 // bytes of memory that the results hold
}

// Match is an event that rules over several events count.
type Match struct {
	Record  []byte // what they have to know of it, in the form of Batch.Set
	Results uint32 // results of the batch up to and with this event's: what fires goes behind them
	Event   uint32 // its number in the events of the batch
}

// Batch is the unit of work in front of the results. It belongs to whoever holds
// it, and is evaluated from end to end by the rule set it was stamped with.
type Batch struct {
	Seq         uint64   // grows by one with every batch of a run of the daemon
	Set         *RuleSet // nil for a publication
	Arrival     int64    // Unix seconds, when the batch was formed
	Lines       []Line
	Bytes       int           // that the lines keep
	Held        int           // bytes of memory that results and matches hold
	Outcomes    []LineOutcome // one per line
	Events      *engine.Events
	Results     *result.Batch
	EventOf     []uint32 // by result: its event; none unless the step that detects was told to say so
	Withheld    []uint32 // load index of the rule of each result that is left out, as it only feeds others
	Matches     []Match  // none when nothing counts them
	Records     []byte   // what the records of Matches lie in
	Barrier     *Barrier
	Publication *Publication // in the place of lines
	Timing      Timing
	Release     func(*Batch) // gives the batch back to parse once nobody needs it; may be nil
}

// Reset makes b empty. It keeps the memory of what nobody else refers to: results
// belong to whoever has them.
func (b *Batch) Reset() {
	b.Events.Reset()
	ReleaseLines(b.Lines)
	clear(b.Lines) // what they refer to is needed no longer
	clear(b.Matches)
	if cap(b.Records) > maxRecords {
		b.Records = nil
	}
	if cap(b.Withheld) > maxWithheld {
		b.Withheld = nil
	}
	*b = Batch{
		Lines: b.Lines[:0], Outcomes: b.Outcomes[:0], Events: b.Events,
		Matches: b.Matches[:0], Records: b.Records[:0], Withheld: b.Withheld[:0], Release: b.Release,
	}
}

// maxRecords is how many bytes of records Reset keeps room for.
const maxRecords = 1 << 20

// maxWithheld is how many results left out Reset keeps room for.
const maxWithheld = 1 << 16

// SizeOfBatch is the size of a batch in a data lane: one unit per line, at least
// one, so that empty batches and barriers are bounded too, and the bytes of lines,
// events, results and matches.
func SizeOfBatch(b *Batch) (units, bytes int) {
	bytes = b.Bytes + b.Held
	if b.Events != nil {
		bytes += b.Events.Held()
	}
	return max(1, len(b.Lines)), bytes
}

// Empty reports whether the batch only carries a rule set or a barrier.
func (b *Batch) Empty() bool { return len(b.Lines) == 0 }
