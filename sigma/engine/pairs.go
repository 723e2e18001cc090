package engine

import (
	"hash/maphash"
	"math/bits"

	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

// Pairs makes an event of named texts out of one pair after the other. Of several pairs
// with one key the first is the field; keywords are searched in all. It copies what it is
// given and, once it knows the keys, allocates nothing.
type Pairs struct {
	table  *scan.Table
	keys   map[string]*pairKey // that are remembered
	first  *pairKey            // of an event
	met    []uint64            // hashes of keys that are not remembered
	seed   maphash.Seed        // of the hashes
	tosses uint64              // decided by chance
	ranks  []uint16            // by field
	text   []byte              // unescaped

	// The event at hand.
	ev       *Events
	number   uint64              // marks its keys
	next     **pairKey           // which key is expected
	others   map[string]struct{} // its keys that are not remembered
	doc      []byte              // with the documents before it
	start    int                 // of its document
	cell     int                 // its first
	ranked   bool                // a cell may have to give way
	repeated []byte              // the values of repeated keys
	later    []scan.Cell         // of them
}

// pairKey is a key as it was met in events.
type pairKey struct {
	name    string
	spelled string      // as a member of an object: behind a comma, quoted, with the colon
	cells   []scan.Cell // of its value, but for where that lies
	event   uint64      // the last one that had it
	next    *pairKey    // the key that followed last time
}

// What is remembered of keys is bounded: beyond the bound it begins anew, and a key that
// is too long is looked up every time.
const (
	maxPairKeys      = 1024
	maxPairKeyLength = 128
)

func (p *Pairs) init(table *scan.Table) {
	p.table, p.ranks = table, make([]uint16, table.Fields())
	p.keys, p.others = make(map[string]*pairKey), make(map[string]struct{})
	p.met, p.seed = make([]uint64, 4*maxPairKeys), maphash.MakeSeed()
}

// Pairs begins an event, which End appends to ev. There is one event of a worker at a
// time.
func (w *Worker) Pairs(ev *Events) *Pairs {
	p := &w.pairs
	if p.table == nil {
		p.init(w.set.plan.Fields.Table)
	}
	if len(p.keys) >= maxPairKeys {
		clear(p.keys)
		p.first = nil
	}
	p.number++
	p.ev, p.next, p.ranked = ev, &p.first, false
	p.doc, p.start, p.cell = ev.arena, len(ev.arena), len(ev.cells)
	p.repeated, p.later = p.repeated[:0], p.later[:0] // a panic may have left some
	if len(p.others) > 0 {
		clear(p.others)
	}
	return p
}

// Add adds a pair.
func (p *Pairs) Add(key, value []byte) {
	k := *p.next
	if k == nil || k.name != string(key) {
		if k = p.known(key); k == nil {
			p.addOther(key, value)
			return
		}
		*p.next = k
	}
	p.next = &k.next
	if k.event == p.number {
		p.repeat(value)
		return
	}
	k.event = p.number
	p.add(k, value)
}

// add adds the first pair with a key.
func (p *Pairs) add(k *pairKey, value []byte) {
	at, n := len(p.doc), len(k.spelled)
	var flags scan.Flags
	if end := at + n + len(value) + 2; end <= cap(p.doc) && event.IsPlain(value) { // nearly always
		p.doc = p.doc[:end]
		b := p.doc[at:]
		copy(b, k.spelled)
		b[n], b[len(b)-1] = '"', '"'
		copy(b[n+1:], value)
	} else {
		p.doc, flags = appendText(append(p.doc, k.spelled...), value)
	}
	from, end := uint32(at+n-p.start), uint32(len(p.doc)-p.start)
	for i := range k.cells {
		c := &k.cells[i]
		p.ranked = p.ranked || c.Rank != 0
		p.ev.cells = append(p.ev.cells, scan.Cell{Start: from, End: end, Field: c.Field, Rank: c.Rank, Type: event.String, Flags: c.Flags | flags})
	}
}

// AddUnescaped adds a pair whose value is what unescape appends to dst.
func (p *Pairs) AddUnescaped(key, value []byte, unescape func(dst, value []byte) []byte) {
	p.text = unescape(p.text[:0], value)
	p.Add(key, p.text)
}

// End appends the event.
func (p *Pairs) End() {
	ev := p.ev
	if len(p.doc) == p.start {
		p.doc = append(p.doc, '{')
	}
	p.doc[p.start] = '{' // where the first key has its comma
	p.doc = append(p.doc, '}')
	end := len(p.doc)
	for _, c := range p.later {
		c.Start, c.End = c.Start+uint32(end-p.start), c.End+uint32(end-p.start)
		ev.cells = append(ev.cells, c)
	}
	p.doc = append(p.doc, p.repeated...)
	if p.ranked {
		ev.cells = ev.cells[:p.cell+p.dropWorse(ev.cells[p.cell:])]
	}
	ev.list = append(ev.list, decoded{
		kind: event.Pairs, doc: p.doc[p.start:], root: uint32(end - p.start), first: uint32(p.cell), last: uint32(len(ev.cells)),
	})
	ev.arena = p.doc
	p.rest()
}

// rest forgets the event and keeps the memory that usual ones need.
func (p *Pairs) rest() {
	p.ev, p.doc = nil, nil
	p.repeated, p.later = p.repeated[:0], p.later[:0]
	if cap(p.repeated) > keptScratch {
		p.repeated, p.later = nil, nil
	}
	if cap(p.text) > keptScratch {
		p.text = nil
	}
	switch n := len(p.others); {
	case n > maxPairKeys:
		p.others = make(map[string]struct{}) // clearing a large map costs every later event
	case n > 0:
		clear(p.others)
	}
}

// repeat adds a value of a key that there is already. It stands behind the document,
// where only keywords find it.
func (p *Pairs) repeat(value []byte) {
	if !p.table.Keywords {
		return
	}
	from := len(p.repeated)
	var flags scan.Flags
	p.repeated, flags = appendText(p.repeated, value)
	p.later = append(p.later, scan.Cell{
		Start: uint32(from), End: uint32(len(p.repeated)), Type: event.String, Flags: flags | scan.Keyword,
	})
}

// known returns what is remembered of a key, or nil. A key is remembered when it comes
// again, so that keys that come once cost little and displace nothing. Of two keys that
// share the place of their hashes, chance decides, so that both come to it.
func (p *Pairs) known(key []byte) *pairKey {
	if k := p.keys[string(key)]; k != nil {
		return k
	}
	if len(key) > maxPairKeyLength || len(p.keys) >= maxPairKeys {
		return nil
	}
	hash := maphash.Bytes(p.seed, key)
	if slot := &p.met[hash%uint64(len(p.met))]; *slot != hash {
		if p.tosses++; *slot == 0 || bits.OnesCount64(p.tosses*0x9e3779b97f4a7c15)&1 == 0 {
			*slot = hash
		}
		return nil
	}
	if _, here := p.others[string(key)]; here {
		return nil
	}
	k := p.newKey(key)
	p.keys[k.name] = k
	return k
}

func (p *Pairs) newKey(key []byte) *pairKey {
	var spelled [2 + 6*maxPairKeyLength + 2]byte
	k := &pairKey{name: string(key), spelled: string(appendKey(spelled[:0], key))}
	p.cells(key, func(c scan.Cell) { k.cells = append(k.cells, c) })
	return k
}

// addOther adds a pair whose key is not remembered.
func (p *Pairs) addOther(key, value []byte) {
	if _, repeated := p.others[string(key)]; repeated {
		p.repeat(value)
		return
	}
	p.others[string(key)] = struct{}{}
	doc := appendKey(p.doc, key)
	from := len(doc) - p.start
	doc, flags := appendText(doc, value)
	p.doc = doc
	p.cells(key, func(c scan.Cell) {
		c.Start, c.End, c.Flags = uint32(from), uint32(len(doc)-p.start), c.Flags|flags
		p.ranked = p.ranked || c.Rank != 0
		p.ev.cells = append(p.ev.cells, c)
	})
}

// appendKey appends a key as that of a member behind another.
func appendKey(dst, key []byte) []byte { return append(event.AppendQuoted(append(dst, ','), key), ':') }

// cells visits the cells of a value of the key, but for where it lies.
func (p *Pairs) cells(key []byte, visit func(scan.Cell)) {
	var keyword scan.Flags
	if p.table.Keywords {
		keyword = scan.Keyword
	}
	p.table.Flat(key, func(field uint32, rank uint16) {
		visit(scan.Cell{Field: field, Rank: rank, Type: event.String, Flags: scan.Terminal | keyword})
		keyword = 0
	})
	if keyword != 0 {
		visit(scan.Cell{Type: event.String, Flags: keyword})
	}
}

// dropWorse keeps, of the cells of a field, those of the lowest rank, and returns how
// many are left.
func (p *Pairs) dropWorse(cells []scan.Cell) int {
	for i := range cells {
		p.ranks[cells[i].Field] = ^uint16(0)
	}
	for i := range cells {
		c := &cells[i]
		p.ranks[c.Field] = min(p.ranks[c.Field], c.Rank)
	}
	n := 0
	for _, c := range cells {
		if c.Field != 0 && c.Rank > p.ranks[c.Field] {
			if c.Flags&scan.Keyword == 0 {
				continue
			}
			c.Field, c.Rank, c.Flags = 0, 0, c.Flags&^scan.Terminal
		}
		cells[n] = c
		n++
	}
	return n
}

// appendText appends s as a JSON string and says what its cell needs to know of it.
func appendText(dst, s []byte) ([]byte, scan.Flags) {
	if event.IsPlain(s) {
		dst = append(append(dst, '"'), s...)
		return append(dst, '"'), 0
	}
	var flags scan.Flags
	for _, c := range s {
		switch {
		case c >= 0x80:
			flags |= scan.High
		case c < ' ' || c == '"' || c == '\\':
			flags |= scan.Escaped
		}
	}
	return event.AppendQuoted(dst, s), flags
}
