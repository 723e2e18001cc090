package textset

import "math/bits"

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

// word returns the 64 places from i on, which may be before the text.
func (p *positions) word(i int) uint64 {
	switch {
	case i <= -64:
		return 0
	case i < 0:
		return p.bits[0] << -i
	}
	word := p.bits[i/64] >> (i % 64)
	if i/64+1 < len(p.bits) {
		word |= p.bits[i/64+1] << (64 - i%64)
	}
	return word
}

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
	for _, s := range row[1:] {
		if !f.from.some {
			return false
		}
		f.goOn(text, f.treeOf(s))
		f.from, f.to = f.to, f.from
	}
	if at.End {
		return f.from.has(len(text))
	}
	return f.from.some
}

// goOn makes of the positions of f.from those of f.to, at which a text of the tree ends
// that begins at one of them.
func (f *Finder) goOn(text []byte, t *tree) {
	t.chain(f)
	f.to.clear(len(text))
	t.scan(f, text, func(node int32, end int) bool {
		if node = t.last(node); node != root {
			f.meet(t, node, end)
		}
		if end%64 == 63 || end == len(text) {
			f.settle(t, end/64)
		}
		return false
	})
	if t.ends[root] {
		for i, word := range f.from.bits {
			f.to.bits[i] |= word
		}
		f.to.some = f.to.some || f.from.some
	}
}

// met is a link that texts end with at some of the positions of a word.
type met struct {
	node int32
	ends uint64
}

// meet notes that the links from a node on end at a position. Links that were met in
// the same word of positions are not followed again.
func (f *Finder) meet(t *tree, node int32, end int) {
	f.walks = append(f.walks, len(f.met))
	for ; node != root; node = t.links[node].below {
		f.Steps++
		if i := int(t.links[node].met); i < len(f.met) && f.met[i].node == node {
			f.met[i].ends |= 1 << (end % 64)
			return
		}
		t.links[node].met = int32(len(f.met))
		f.met = append(f.met, met{node: node})
		if i := len(f.met) - 1; i == f.walks[len(f.walks)-1] {
			f.met[i].ends = 1 << (end % 64)
		}
	}
}

// settle finds the positions of a word of f.to, with the links met in it.
func (f *Finder) settle(t *tree, word int) {
	var found uint64
	last := len(f.met)
	for w := len(f.walks) - 1; w >= 0; w-- { // a link is met before what leads to it from a later walk
		for i := f.walks[w]; i < last; i++ {
			m := f.met[i]
			l := &t.links[m.node]
			if l.below != root {
				f.met[t.links[l.below].met].ends |= m.ends
			}
			found |= f.ending(l, m.ends&^found, word*64)
		}
		last = f.walks[w]
	}
	f.to.bits[word] = found
	f.to.some = f.to.some || found != 0
	f.met, f.walks = f.met[:0], f.walks[:0]
}

// ending returns those of the positions, counted from a base, that a text of a link
// ends at which begins at one of f.from. It goes by position or by length, whatever is
// less.
func (f *Finder) ending(l *link, ends uint64, base int) (found uint64) {
	if bits.OnesCount64(ends) <= bits.OnesCount64(l.lengths) {
		for ; ends != 0; ends &= ends - 1 {
			f.Steps++
			end := bits.TrailingZeros64(ends)
			if f.from.word(base+end-int(l.base)-64)&l.lengths != 0 {
				found |= 1 << end
			}
		}
		return found
	}
	for lengths := l.lengths; lengths != 0 && found != ends; lengths &= lengths - 1 {
		f.Steps++
		length := int(l.base) + 64 - bits.TrailingZeros64(lengths)
		found |= f.from.word(base-length) & ends
	}
	return found
}
