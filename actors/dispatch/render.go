package dispatch

import (
	"time"

	"github.com/sluicehq/sluice/graph"
)

const (
	chunkSize = 32 << 10 // bytes of rendered lines taken at once
	slabSize  = 64       // items and lines taken at once
)

// renderer makes items. The memory of many is taken at once, is never written
// again once an item was returned, and goes when the last of them does.
type renderer struct {
	ids   identities
	chunk []byte
	slots [][]byte
	items []graph.Item
	hint  int // bytes that a list usually needs
}

// item renders a list: its native lines, each ending with LF. Until it returns,
// what it wrote may be written over, so a list that panics leaves nothing behind.
func (r *renderer) item(l *graph.List, now time.Time) *graph.Item {
	n := len(l.Results)
	if l.Record != nil {
		n++
	}
	if cap(r.slots)-len(r.slots) < n {
		r.slots = make([][]byte, 0, max(slabSize, n))
	}
	if cap(r.chunk)-len(r.chunk) < 2*r.hint {
		r.chunk = make([]byte, 0, max(chunkSize, 2*r.hint))
	}
	from, buf, slots := len(r.chunk), r.chunk, r.slots
	if l.Record != nil {
		buf = append(l.Record.AppendNative(buf), '\n')
		slots = append(slots, buf[from:len(buf):len(buf)])
	}
	for i := range l.Results {
		at := len(buf)
		buf = append(l.Results[i].AppendNative(buf), '\n')
		slots = append(slots, buf[at:len(buf):len(buf)])
	}
	r.hint = (7*r.hint + len(buf) - from) / 8
	lines := slots[len(r.slots):len(slots):len(slots)]
	r.chunk, r.slots = buf, slots
	item := r.blank()
	*item = graph.Item{ID: r.ids.next(), Time: now, Token: l.Token, Record: l.Record, Lines: lines}
	return item
}

func (r *renderer) blank() *graph.Item {
	if len(r.items) == cap(r.items) {
		r.items = make([]graph.Item, 0, slabSize)
	}
	r.items = r.items[:len(r.items)+1]
	return &r.items[len(r.items)-1]
}
