package lazydfa

import (
	"math/bits"
	"regexp/syntax"
	"unicode/utf8"
)

// lanes judge a text 64 characters at a time. A word has a bit for each place of a
// block, and a part of the expression makes of the places where it may begin those
// where it may end. What passes the end of a block is carried into the next.
type lanes struct {
	p       *parts
	in, out []uint64 // carries into the block and out of it, by number of the part
	next    int32    // the first carry into the block that was not taken yet
	masks   []uint64 // by class: the places that have a character of it
	made    []bool   // by class: its mask is there
	tried   []bool   // by 64 classes: one of their masks was made alone
	begun   []uint64 // by loop: the places of the block where its body began

	where         [asserts]uint64 // by assertion: the places at which it holds
	places        [block]int32    // the group of each character
	groups        []int32         // of the characters that there are
	word, newline uint64          // the block before ended with such a character

	steps uint64
}

const block = 64

// match reports whether the text matches.
func (l *lanes) match(p *parts, text []byte) bool {
	words := int(p.root.end)/64 + 1
	l.in, l.out = sized(l.in, words), sized(l.out, words)
	l.p, l.masks, l.made = p, sized(l.masks, len(p.member)*64), sized(l.made, len(p.member)*64)
	l.tried, l.begun = sized(l.tried, len(p.member)), sized(l.begun, int(p.loops))
	l.word, l.newline = 0, 1
	clear(l.in)
	for first := true; ; first = false {
		clear(l.out)
		clear(l.made)
		clear(l.tried)
		clear(l.begun)
		l.steps += uint64(words + len(l.made)/block + int(p.loops))
		size := l.read(text)
		n := len(l.groups)
		text = text[size:]
		l.next = nextBit(l.in, 0)
		if p.anchored && !first && l.next == none {
			return false
		}
		valid := ^uint64(0)
		if n < block {
			valid >>= block - 1 - n
		}
		if p.asserts {
			l.assert(n, valid, first, len(text) == 0)
		}
		if l.run(&p.root, valid) != 0 {
			return true
		}
		if n < block {
			return false
		}
		l.in, l.out = l.out, l.in
	}
}

// sized returns a slice of a length that may hold anything.
func sized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n)
	}
	return s[:n]
}

// nextBit returns the first bit that is set from a number on, or none.
func nextBit(set []uint64, from int32) int32 {
	w := int(from / 64)
	if w >= len(set) {
		return none
	}
	word := set[w] >> (from % 64) << (from % 64)
	for word == 0 {
		if w++; w == len(set) {
			return none
		}
		word = set[w]
	}
	return int32(w*64 + bits.TrailingZeros64(word))
}

const none int32 = 1<<31 - 1

// read takes the groups of the next characters of a text, and returns how many bytes
// these are.
func (l *lanes) read(text []byte) (size int) {
	n := 0
	for ; n < block && size < len(text); n++ {
		if c := text[size]; c < utf8.RuneSelf {
			l.places[n] = int32(c)
			size++
			continue
		}
		r, width := utf8.DecodeRune(text[size:])
		l.places[n] = int32(l.p.of(r))
		size += width
	}
	l.groups = l.places[:n]
	l.steps += uint64(n)
	return size
}

// mask returns the places that have a character of a class.
func (l *lanes) mask(class int32) uint64 {
	if !l.made[class] {
		l.make(int(class))
	}
	return l.masks[class]
}

// make makes the mask of a class: alone, or with 63 others when one was made before.
func (l *lanes) make(class int) {
	tile, member := class/64, l.p.member[class/64]
	if !l.tried[tile] {
		l.tried[tile] = true
		l.steps += uint64(len(l.groups))
		var mask uint64
		for i, g := range l.groups {
			mask |= member[g] >> (class % 64) & 1 << i
		}
		l.masks[class], l.made[class] = mask, true
		return
	}
	masks := (*[64]uint64)(l.masks[tile*64:])
	clear(masks[:])
	most := 0
	for _, g := range l.groups {
		most += bits.OnesCount64(member[g])
	}
	if most < transposing {
		for i, g := range l.groups {
			for row := member[g]; row != 0; row &= row - 1 {
				masks[bits.TrailingZeros64(row)] |= 1 << i
			}
		}
	} else {
		for i, g := range l.groups {
			masks[i] = member[g]
		}
		transpose(masks)
	}
	l.steps += uint64(16 + min(most, transposing))
	for i := range 64 {
		l.made[tile*64+i] = true
	}
}

// transposing is how many steps a transposition takes.
const transposing = 6 * 32

// transpose makes rows columns: bit i of word k becomes bit k of word i.
func transpose(m *[64]uint64) {
	mask := uint64(1<<32 - 1)
	for j := 32; j > 0; j, mask = j>>1, mask^mask<<(j>>1) {
		for k := 0; k < 64; k = (k + j + 1) &^ j {
			t := (m[k]>>j ^ m[k+j]) & mask
			m[k] ^= t << j
			m[k+j] ^= t
		}
	}
}

// Assertions, by number.
const (
	beginText = iota
	endText
	beginLine
	endLine
	boundary
	noBoundary
	asserts
)

var assertion = map[syntax.Op]int32{
	syntax.OpBeginText: beginText, syntax.OpEndText: endText, syntax.OpBeginLine: beginLine, syntax.OpEndLine: endLine,
	syntax.OpWordBoundary: boundary, syntax.OpNoWordBoundary: noBoundary,
}

// assert finds the places at which assertions hold. The block has n characters, and the
// places of valid.
func (l *lanes) assert(n int, valid uint64, first, last bool) {
	var word, newline uint64
	for i, g := range l.groups {
		switch context(g) {
		case contextWord:
			word |= 1 << i
		case contextNewline:
			newline |= 1 << i
		}
	}
	l.steps += uint64(n)
	l.where = [asserts]uint64{
		beginLine: newline<<1 | l.newline,
		endLine:   newline,
		boundary:  word ^ (word<<1 | l.word),
	}
	if first {
		l.where[beginText] = 1
	}
	if last && n < block {
		l.where[endText] = 1 << n
		l.where[endLine] |= 1 << n
	}
	l.where[noBoundary] = ^l.where[boundary] & valid
	l.word, l.newline = word>>63, newline>>63
}

// stepsPerPart is what beginning with a part takes, about.
const stepsPerPart = 4

// run returns the places where a part may end that begins at one of m, or in a block
// before.
func (l *lanes) run(p *part, m uint64) uint64 {
	if m == 0 && l.next >= p.end {
		return 0
	}
	l.steps += stepsPerPart
	switch p.kind {
	case series:
		return l.series(p, m)
	case star:
		c := l.mask(p.classes[0])
		if l.next == p.first {
			m |= 1
			l.next = nextBit(l.in, p.end)
		}
		sum, carry := bits.Add64(m&c, c, 0)
		l.out[p.first/64] |= carry << (p.first % 64)
		return sum ^ c | m
	case assert:
		return m & l.where[p.number]
	case sequence:
		out := m
		for i := range p.subs {
			m = l.run(&p.subs[i], m)
			out |= m
		}
		if p.optional {
			return out
		}
		return m
	case choice:
		var out uint64
		for i := range p.subs {
			out |= l.run(&p.subs[i], m)
		}
		if p.optional {
			out |= m
		}
		return out
	case loop:
		return l.loop(p, m)
	}
	return 0
}

// series runs classes that follow each other.
func (l *lanes) series(p *part, m uint64) uint64 {
	var out uint64
	if p.optional {
		out = m
	}
	i, masks, made := p.first, l.masks, l.made
	for i < p.end {
		if m == 0 { // go on where something comes from the block before
			if i = max(i, l.next); i >= p.end {
				break
			}
		}
		w, low := i/64, i%64
		n := min(p.end, (w+1)*64) - i
		mine := uint64(1)<<n - 1
		in, carried := l.in[w]>>low&mine, uint64(0)
		passed := 0
		for _, class := range p.classes[i-p.first:][:n] {
			if !made[class] {
				l.make(int(class))
			}
			passed++
			t := m & masks[class]
			m = t<<1 | in&1
			in >>= 1
			carried = carried>>1 | t&(1<<63)
			out |= m
			if m|in == 0 {
				break
			}
		}
		l.steps += uint64(passed)
		l.in[w] &^= mine << low
		l.out[w] |= carried >> (block - passed) << low
		i += n
	}
	if l.next < p.end {
		l.next = nextBit(l.in, p.end)
	}
	if p.optional {
		return out
	}
	return m
}

// loop runs its body from each place once: what began there before, in this block, has
// gone on from there.
func (l *lanes) loop(p *part, m uint64) (out uint64) {
	if p.optional {
		out = m
	}
	begun := &l.begun[p.number]
	for {
		m &^= *begun
		if m == 0 && l.next >= p.end {
			return out
		}
		*begun |= m
		m = l.run(&p.subs[0], m)
		out |= m
	}
}
