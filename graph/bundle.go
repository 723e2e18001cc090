package graph

import "sync"

// Bundle is what the sinks of one form deliver of neighbouring result sets: the element
// of their lanes. They share it, so nobody changes it once it was sent. Each of them calls
// Ended for every set once, in any pieces, and after the last of them Release.
type Bundle struct {
	Sets     []Rendered // at least one
	Messages []Message  // those of all sets
	Lines    []byte     // their bodies, each with a line feed behind it; nil where they do not lie so
	Faulty   bool       // some message could not be written
	Bytes    int        // that the sets hold
	Buffer   *Buffer    // what it lies in, with a share for each sink; nil for memory of its own
	held     *held
	from     int // the first set among those of held
	own      held
}

// held is what sinks still owe the tokens of a bundle's sets. Each set has one share of
// its token for all of them.
type held struct {
	sets  []Rendered
	sinks int
	mu    sync.Mutex // guards what follows
	whole int        // sinks for which all sets have ended at once
	early []int      // by set: other sinks for which it has ended; none in most bundles
}

// Begin makes b an empty bundle for so many sinks.
func (b *Bundle) Begin(sinks int, memory *Buffer) {
	b.Sets, b.Messages, b.Lines, b.Faulty, b.Bytes, b.Buffer = nil, nil, nil, false, 0, memory
	b.held, b.from = &b.own, 0
	b.own.sets, b.own.sinks, b.own.whole, b.own.early = nil, sinks, 0, b.own.early[:0]
}

// Extend makes the sets of b those that it has and neighbours behind them.
func (b *Bundle) Extend(sets []Rendered, messages []Message, lines []byte) {
	b.Sets, b.own.sets, b.Messages, b.Lines = sets, sets, messages, lines
}

// Alone returns a bundle of one set, for so many sinks.
func Alone(r Rendered, sinks int) *Bundle {
	b := new(Bundle)
	b.Begin(sinks, nil)
	b.Extend([]Rendered{r}, r.Messages, nil)
	b.Bytes = r.Bytes
	for i := range r.Messages {
		b.Faulty = b.Faulty || r.Messages[i].Err() != nil
	}
	return b
}

// Part returns the sets of b from one to another, for one sink that takes b in parts. It
// has a share of the memory.
func (b *Bundle) Part(from, to int) *Bundle {
	p := &Bundle{Sets: b.Sets[from:to], Faulty: b.Faulty, Buffer: b.Buffer, held: b.held, from: b.from + from}
	for i := range p.Sets {
		p.Messages = append(p.Messages, p.Sets[i].Messages...)
		p.Bytes += p.Sets[i].Bytes
	}
	p.Buffer.Retain(1)
	return p
}

// Ended says that a sink needs the tokens of sets no longer. With the last sink of a set
// goes its share.
func (b *Bundle) Ended(from, to int) {
	h := b.held
	from, to = b.from+from, b.from+to
	h.mu.Lock()
	defer h.mu.Unlock()
	var ended settler
	defer ended.flush()
	if from == 0 && to == len(h.sets) {
		h.whole++
		if len(h.early) == 0 && h.whole < h.sinks {
			return
		}
	} else {
		for len(h.early) < len(h.sets) {
			h.early = append(h.early, 0)
		}
		for i := from; i < to; i++ {
			h.early[i]++
		}
	}
	for i := from; i < to; i++ {
		n := h.whole
		if len(h.early) > 0 {
			n += h.early[i]
		}
		if n == h.sinks {
			ended.add(h.sets[i].Token)
		}
	}
}

// Release gives a sink's share of the memory back. The bundle is not the sink's any more.
func (b *Bundle) Release() { b.Buffer.Release(1) }

// SizeOfBundle is the size of a bundle in a data lane: a unit for each set.
func SizeOfBundle(b *Bundle) (units, bytes int) { return len(b.Sets), b.Bytes }

// settler settles tokens. It counts neighbours that nobody waits for at once: the zero
// value is ready, and the last call is flush.
type settler struct {
	open  *Open
	lines int
}

func (s *settler) add(t Token) {
	e := t.epoch
	if t.receipt != nil || e == nil {
		t.Settle()
		return
	}
	if e.open != s.open {
		s.flush()
		s.open = e.open
	}
	s.lines++
}

func (s *settler) flush() {
	s.open.Ended(s.lines)
	*s = settler{}
}
