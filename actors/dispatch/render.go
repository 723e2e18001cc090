package dispatch

import (
	"sync"
	"time"

	"github.com/sluicehq/sluice/graph"
)

const (
	sheetBytes = 64 << 10 // of rendered lines
	sheetItems = 64
	keptBytes  = 256 << 10 // a sheet that long lines made larger is not used again
)

// sheet is the memory of items that were made one after another. It is used again
// when every sink is through with all of them.
type sheet struct {
	chunk *graph.Buffer // has the rendered lines, and counts who needs the sheet
	items []graph.Item
	lines [][]byte
}

// sheets keeps sheets that nobody needs. The sinks give them back.
type sheets struct{ idle sync.Pool }

// get returns an empty sheet of which the caller has a share.
func (p *sheets) get() *sheet {
	if s, ok := p.idle.Get().(*sheet); ok {
		s.chunk.Retain(1)
		return s
	}
	s := &sheet{items: make([]graph.Item, 0, sheetItems)}
	s.chunk = graph.NewBuffer(make([]byte, 0, sheetBytes), func(c *graph.Buffer) {
		if cap(c.Bytes) > keptBytes {
			return
		}
		clear(s.items)
		clear(s.lines)
		s.items, s.lines, c.Bytes = s.items[:0], s.lines[:0], c.Bytes[:0]
		p.idle.Put(s)
	})
	return s
}

// renderer makes items for a number of sinks.
type renderer struct {
	from  *sheets
	sinks int
	ids   identities
	sheet *sheet // nil before the first item
	hint  int    // bytes that a list usually needs
}

// item renders a list: its native lines, each ending with LF. Each sink has a
// share of the item's chunk. Until it returns, what it wrote may be written over,
// so a list that panics leaves nothing behind.
func (r *renderer) item(l *graph.ResultSet, now time.Time) *graph.Item {
	s := r.room()
	from, buf, lines := len(s.chunk.Bytes), s.chunk.Bytes, s.lines
	if l.Record != nil {
		buf = append(l.Record.AppendNative(buf), '\n')
		lines = append(lines, buf[from:len(buf):len(buf)])
	}
	for i := range l.Results {
		at := len(buf)
		buf = append(l.Results[i].AppendNative(buf), '\n')
		lines = append(lines, buf[at:len(buf):len(buf)])
	}
	r.hint = (7*r.hint + len(buf) - from) / 8
	s.items = append(s.items, graph.Item{
		ID: r.ids.next(), Time: now, Token: l.Token, Record: l.Record, Buffer: s.chunk,
		Lines: lines[len(s.lines):len(lines):len(lines)],
	})
	s.chunk.Bytes, s.lines = buf, lines
	s.chunk.Retain(r.sinks)
	return &s.items[len(s.items)-1]
}

// room returns a sheet for one more item.
func (r *renderer) room() *sheet {
	if s := r.sheet; s != nil {
		if len(s.items) < cap(s.items) && cap(s.chunk.Bytes)-len(s.chunk.Bytes) >= 2*r.hint {
			return s
		}
		s.chunk.Release(1)
	}
	r.sheet = r.from.get()
	return r.sheet
}
