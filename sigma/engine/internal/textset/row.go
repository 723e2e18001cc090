package textset

// positions is a set of places in a text, from before its first byte to behind its
// last.
type positions struct {
	bits []uint64
	some bool
}

func (p *positions) clear(length int) {
	n := length/64 + 1
	if cap(p.bits) < n {
		p.bits = make([]uint64, n)
	}
	p.bits, p.some = p.bits[:n], false
	clear(p.bits)
}

func (p *positions) add(i int) { p.bits[i/64] |= 1 << (i % 64); p.some = true }

func (p *positions) has(i int) bool { return p.bits[i/64]>>(i%64)&1 != 0 }

// matchRow finds, set by set, the positions of text at which what the sets so far
// stand for may end.
func (f *Finder) matchRow(text []byte, row []*Set, at Where) bool {
	f.from.clear(len(text))
	first := f.treeOf(row[0])
	if at.Start {
		first.prefixes(f, text, func(n int) bool { f.from.add(n); return false })
	} else {
		if first.ends[root] {
			f.from.add(0)
		}
		first.scan(f, text, func(node int32, end int) bool {
			if first.ends[root] || first.last(node) != root {
				f.from.add(end)
			}
			return false
		})
	}
	row = row[1:]
	for ; len(row) > 1 && f.from.some; row = row[1:] {
		f.to.clear(len(text))
		f.goOn(text, row[0], func(end int) bool { f.to.add(end); return false })
		f.from, f.to = f.to, f.from
	}
	return f.from.some && f.goOn(text, row[0], func(end int) bool { return !at.End || end == len(text) })
}

// goOn gives visit the positions at which a text of s ends that begins at one of
// f.from, until it returns true, and returns that.
func (f *Finder) goOn(text []byte, s *Set, visit func(end int) bool) bool {
	t := f.treeOf(s)
	if t.ends[root] && f.from.has(0) && visit(0) {
		return true
	}
	return t.scan(f, text, func(node int32, end int) bool {
		found := t.ends[root] && f.from.has(end)
		for n := t.last(node); n != root && !found; n = t.output[n] {
			f.Steps++
			found = f.from.has(end - int(t.depth[n]))
		}
		return found && visit(end)
	})
}
