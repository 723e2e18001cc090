package window

import "iter"

type mention struct {
	ts   int64
	text *text
}

func (m mention) when(int64) int64 { return m.ts }

func (mention) fits(int64, int64) bool { return true }

// Distinct is a window of texts that knows how many different ones it holds.
// The zero value is empty.
type Distinct struct {
	list  list[mention]
	texts textSet
}

// Len returns the number of entries.
func (d *Distinct) Len() int { return d.list.len() }

// First returns the oldest timestamp.
func (d *Distinct) First() int64 { return d.list.first() }

// Last returns the newest timestamp.
func (d *Distinct) Last() int64 { return d.list.last() }

// Count returns the number of different texts.
func (d *Distinct) Count() int { return d.texts.len() }

// Recount counts the different texts of the entries: also where a fork left them
// behind.
func (d *Distinct) Recount() int {
	texts := make(map[*text]struct{})
	for m := range d.list.all() {
		texts[m.text] = struct{}{}
	}
	return len(texts)
}

// Add inserts an entry. The text is copied when it is new.
func (d *Distinct) Add(ts int64, c *Contribution, undo *Undo) int {
	t := d.texts.intern(c.Text, c.Mark)
	t.refs++
	d.list.add(ts, mention{ts, t}, undo)
	if t.refs == 1 {
		return entryBytes + t.weight()
	}
	return entryBytes
}

// forget returns what a removed entry took.
func (d *Distinct) forget(m mention) int {
	if m.text.refs--; m.text.refs == 0 {
		d.texts.remove(m.text)
		return entryBytes + m.text.weight()
	}
	return entryBytes
}

// DropBefore removes the entries older than cutoff.
func (d *Distinct) DropBefore(cutoff int64) (more int) {
	if d.Len() > 0 && d.Last() < cutoff {
		more = setBytes - d.Bytes()
		d.Clear()
		return more
	}
	for d.Len() > 0 && d.First() < cutoff {
		more -= d.forget(d.list.pop())
	}
	return more
}

// Trim removes the oldest entries until limit are left.
func (d *Distinct) Trim(limit int, keepFirst bool) (more int) {
	for d.Len() > limit {
		more -= d.forget(d.list.trim(keepFirst))
	}
	return more
}

// Clear removes all entries.
func (d *Distinct) Clear() {
	d.list.clear()
	d.texts.clear()
}

// All yields the entries, oldest first.
func (d *Distinct) All() iter.Seq2[int64, string] {
	return func(yield func(int64, string) bool) {
		for m := range d.list.all() {
			if !yield(m.ts, string(m.text.bytes())) {
				return
			}
		}
	}
}

// Fork returns the window that goes on.
func (d *Distinct) Fork() Window {
	c := *d
	c.list.queue.fork()
	return &c
}

// Save copies the window into spare.
func (d *Distinct) Save(spare Window) Window {
	c, ok := spare.(*Distinct)
	if !ok {
		c = new(Distinct)
	}
	c.list = d.list
	return c
}

// Restore takes a saved copy back.
func (d *Distinct) Restore(saved Window) {
	*d = Distinct{list: saved.(*Distinct).list}
}

// Rebuild counts the texts again.
func (d *Distinct) Rebuild() {
	for m := range d.list.all() {
		m.text.refs = 0
	}
	d.texts = textSet{}
	for m := range d.list.all() {
		if m.text.refs++; m.text.refs == 1 {
			d.texts.add(m.text)
		}
	}
}
