package sources

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/state"
)

// LedgerOptions describe the consumer that a ledger is kept for.
type LedgerOptions struct {
	Stream, Consumer string
	// Identity tells the stream from others of its name, such as the one that was there
	// before it was made anew; the name when it is empty. Saves know the stream by it.
	Identity string
	// Snapshot acknowledges a message when a save behind it is complete, instead of
	// when it has ended.
	Snapshot bool
	// Limit is how many unacknowledged messages the server lets the consumer have.
	Limit int
	// Remembered is how many delivered positions are remembered; 0 is Limit, and at
	// least 4096.
	Remembered int
	// Due receives when Acks has something to return, also of other ledgers that it is
	// given to. It holds one token; nil makes one.
	Due chan struct{}
}

func (o LedgerOptions) identity() string { return cmp.Or(o.Identity, o.Stream) }

// Ledger accounts for the messages of one consumer from their delivery until the
// server has confirmed their acknowledgement. M is what the source acknowledges a
// message with. A ledger may be used from any goroutine, and never waits.
type Ledger[M any] struct {
	o     LedgerOptions
	due   chan struct{} // holds a token while acks is not empty
	early chan struct{}

	mu       sync.Mutex // guards the rest
	messages map[uint64]*message[M]
	open     int  // messages whose acknowledgement is not due
	asked    bool // for a save, since the last one
	acks     []Ack[M]
	fresh    []message[M] // memory of messages to come
	repeats  int
	returned int             // covered messages of the restored state that came again
	restored *graph.Position // what the restored state reaches, nil when none was
	seen     []graph.Position
	behind   map[uint64]uint64 // lowest sequence by epoch, of messages that are forgotten
}

// Ack is an acknowledgement to be sent.
type Ack[M any] struct {
	Sequence uint64
	Message  M
}

// maxSeen is how many delivered positions a ledger remembers at least.
const maxSeen = 4096

// maxAwaited is how many times the limit a head covers at most. Messages whose
// acknowledgement arrived unheard never come again and would add up.
const maxAwaited = 4

// NewLedger returns an empty ledger.
func NewLedger[M any](o LedgerOptions) *Ledger[M] {
	if o.Due == nil {
		o.Due = make(chan struct{}, 1)
	}
	if o.Remembered == 0 {
		o.Remembered = max(maxSeen, o.Limit)
	}
	return &Ledger[M]{
		o: o, due: o.Due, early: make(chan struct{}, 1),
		messages: make(map[uint64]*message[M]), behind: make(map[uint64]uint64),
	}
}

// Restore takes over what the head of a save says, whose state was restored. It
// comes before the first delivery.
func (l *Ledger[M]) Restore(positions []state.Position, covered []state.Covered) {
	for _, p := range positions {
		if p.Stream == l.o.identity() && (p.Consumer == "" || p.Consumer == l.o.Consumer) {
			l.restored = &graph.Position{Sequence: p.Sequence, Time: p.Time}
		}
	}
	for _, c := range covered {
		if c.Stream != l.o.identity() || c.Consumer != l.o.Consumer {
			continue
		}
		for sequence := range c.Ranges.All() {
			l.messages[sequence] = &message[M]{ledger: l, position: graph.Position{Sequence: sequence}, standing: due, awaited: true}
		}
	}
}

// Deliver enters a message that has arrived and returns the line's delivery. It
// returns nil for one that must not be put in: it is being worked on, waits for a
// save, or has ended before, in which case its acknowledgement is due again.
// Further calls concerning the message use the handle that came last.
func (l *Ledger[M]) Deliver(p graph.Position, handle M) graph.Delivery {
	l.mu.Lock()
	defer l.mu.Unlock()
	p.Stream = l.o.Stream
	m := l.messages[p.Sequence]
	before := l.see(p)
	switch {
	case m == nil && before: // a redelivery that its acknowledgement overtook
		m = l.enter(p)
		m.standing = due
	case m == nil:
		m = l.enter(p)
		m.handle = handle
		l.open++
		l.ask()
		return m
	}
	if m.awaited {
		l.returned++
	}
	m.handle, m.awaited = handle, false
	if m.standing == due {
		l.repeats++
		l.send(m)
	}
	return nil
}

// together is how many messages share their memory, which is little enough for the last of
// them to keep.
const together = 16

func (l *Ledger[M]) enter(p graph.Position) *message[M] {
	if len(l.fresh) == 0 {
		l.fresh = make([]message[M], together)
	}
	m := &l.fresh[0]
	l.fresh = l.fresh[1:]
	m.ledger, m.position = l, p
	l.messages[p.Sequence] = m
	return m
}

// see remembers a delivered position and reports whether it was remembered. When
// there are too many it forgets every second one of the lower half.
func (l *Ledger[M]) see(p graph.Position) (before bool) {
	if n := len(l.seen); (n == 0 || l.seen[n-1].Sequence < p.Sequence) && n < l.o.Remembered {
		l.seen = append(l.seen, p)
		return false
	}
	i, found := slices.BinarySearchFunc(l.seen, p.Sequence, bySequence)
	if found {
		before = l.seen[i] == p // else the stream was made anew
		l.seen[i] = p
		return before
	}
	l.seen = slices.Insert(l.seen, i, p)
	if len(l.seen) > l.o.Remembered {
		half, kept := len(l.seen)/2, l.seen[:0]
		for i, p := range l.seen {
			if i >= half || i%2 == 0 {
				kept = append(kept, p)
			}
		}
		l.seen = kept
	}
	return false
}

func bySequence(p graph.Position, sequence uint64) int { return cmp.Compare(p.Sequence, sequence) }

// Due receives when Acks has something to return.
func (l *Ledger[M]) Due() <-chan struct{} { return l.due }

// Acks appends to dst the acknowledgements that have become due since the last call, and
// returns it. For each the source calls Confirmed once the server has confirmed it, and
// nothing when it failed: the server delivers the message again.
func (l *Ledger[M]) Acks(dst []Ack[M]) []Ack[M] {
	l.mu.Lock()
	defer l.mu.Unlock()
	dst = append(dst, l.acks...)
	clear(l.acks)
	l.acks = l.acks[:0]
	return dst
}

// Confirmed forgets a message.
func (l *Ledger[M]) Confirmed(sequence uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.confirmed(sequence)
}

// ConfirmedAll forgets messages.
func (l *Ledger[M]) ConfirmedAll(sequences []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, sequence := range sequences {
		l.confirmed(sequence)
	}
}

func (l *Ledger[M]) confirmed(sequence uint64) {
	if m := l.messages[sequence]; m != nil && m.standing == due {
		l.confirm(m)
	}
}

func (l *Ledger[M]) confirm(m *message[M]) {
	sequence := m.position.Sequence
	delete(l.messages, sequence)
	if low, ok := l.behind[m.epoch.Load()]; !ok || sequence < low {
		l.behind[m.epoch.Load()] = sequence
	}
}

// Passed says that the server delivers nothing up to a sequence again: it has
// the acknowledgements, whoever sent them.
func (l *Ledger[M]) Passed(sequence uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s, m := range l.messages {
		if s <= sequence && m.standing == due {
			l.confirm(m)
		}
	}
}

// Held returns the messages that the server must not deliver again: the source
// tells it that they are in progress.
func (l *Ledger[M]) Held() (held []M) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.messages {
		if m.standing != due {
			held = append(held, m.handle)
		}
	}
	return held
}

// Repeats is how many messages were delivered again after they had ended.
func (l *Ledger[M]) Repeats() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.repeats
}

// Returned is how many messages that the restored state covers were delivered again.
func (l *Ledger[M]) Returned() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.returned
}

// Early receives when a save should begin before its time: the server is about to
// hold messages back until others are acknowledged.
func (l *Ledger[M]) Early() <-chan struct{} { return l.early }

func (l *Ledger[M]) ask() {
	if l.o.Snapshot && !l.asked && l.open >= max(1, l.o.Limit/2) {
		l.asked = true
		signal(l.early)
	}
}

// Final is the epoch to ask for when no message comes any more.
const Final = math.MaxUint64

// Cover returns what the head of a save says whose barrier ended the epoch: the
// highest position such that every message delivered so far up to it lies before
// the barrier, if there is one, and the messages before the barrier whose
// acknowledgement is not confirmed. All lines before the barrier have ended.
func (l *Ledger[M]) Cover(epoch uint64) ([]state.Position, []state.Covered) {
	covered := state.Covered{Stream: l.o.identity(), Consumer: l.o.Consumer}
	l.mu.Lock()
	defer l.mu.Unlock()
	low := uint64(math.MaxUint64) // of what does not lie before the barrier
	for e, sequence := range l.behind {
		if e > epoch {
			low = min(low, sequence)
		}
	}
	var sequences []uint64
	for sequence, m := range l.messages {
		if m.before(epoch) {
			sequences = append(sequences, sequence)
		} else {
			low = min(low, sequence)
		}
	}
	slices.Sort(sequences)
	over := len(sequences) - maxAwaited*l.o.Limit
	sequences = slices.DeleteFunc(sequences, func(sequence uint64) bool {
		drop := over > 0 && l.messages[sequence].awaited
		if drop {
			delete(l.messages, sequence)
			over--
		}
		return drop
	})
	covered.Ranges = state.RangesOf(sequences)
	i, _ := slices.BinarySearchFunc(l.seen, low, bySequence)
	var last *graph.Position
	if i > 0 {
		last = &l.seen[i-1]
	}
	if r := l.restored; r != nil && r.Sequence < low && (last == nil || last.Sequence < r.Sequence) {
		last = r
	}
	if last == nil {
		return nil, []state.Covered{covered}
	}
	return []state.Position{{Stream: l.o.identity(), Consumer: l.o.Consumer, Sequence: last.Sequence, Time: last.Time}}, []state.Covered{covered}
}

// Saved says that the save whose barrier ended the epoch is complete.
func (l *Ledger[M]) Saved(epoch uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.messages {
		if m.standing == ended && m.before(epoch) {
			l.end(m)
		}
	}
	for e := range l.behind {
		if e <= epoch {
			delete(l.behind, e)
		}
	}
	l.asked = false
	l.ask()
}

// Unreleased is the number of messages that parse has taken and that have not
// ended: the state may hold them, and the server delivers them again.
func (l *Ledger[M]) Unreleased() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, m := range l.messages {
		if m.standing == working && m.epoch.Load() != 0 {
			n++
		}
	}
	return n
}

// end makes the acknowledgement of a message due that was not.
func (l *Ledger[M]) end(m *message[M]) {
	m.standing = due
	l.open--
	l.send(m)
}

func (l *Ledger[M]) send(m *message[M]) {
	l.acks = append(l.acks, Ack[M]{m.position.Sequence, m.handle})
	signal(l.due)
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
