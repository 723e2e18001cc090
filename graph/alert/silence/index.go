package silence

import (
	"strings"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/selector"
)

// index finds the silences that may mute a result. Each silence is filed under one of its
// matchers: under an equality with a value if it has one, of these the one with the fewest
// silences. Per result, the text of a selector is read at most once, and a matcher is
// evaluated at most once however many silences have it.
type index struct {
	turn    uint64 // counts the results; what was read for another turn is stale
	columns map[string]*column
	probes  map[probeKey]*probe

	// What is searched: the columns under whose values silences are filed, and the other
	// matchers under which some are.
	plain       list   // of the rule and the level
	fields      byName // of matched fields
	groups      byName // of group keys
	enrichments byKey
	events      list
	scanned     []*probe
}

// column is a selector that matchers read.
type column struct {
	selector *selector.Selector
	turn     uint64
	text     []byte // of the result of that turn
	values   map[string]*probe
	filed    int // silences that are filed under values
	users    int // probes
}

// probe is a matcher, shared by all silences that have an equal one.
type probe struct {
	key     probeKey
	matcher *selector.Matcher
	column  *column
	turn    uint64
	is      bool // of the result of that turn
	filed   []*item
	users   int // matchers of silences
}

type probeKey struct{ selector, op, value string }

// item is a silence in the index.
type item struct {
	*Silence
	probes []*probe // of its matchers
	home   *probe   // under which it is filed
	place  int      // in home.filed
	events bool     // a matcher reads the event
	held   bool     // the set has it
}

func newIndex() index {
	return index{
		columns: make(map[string]*column), probes: make(map[probeKey]*probe),
		fields: make(byName), groups: make(byName), enrichments: byKey{keys: make(map[string]list)},
	}
}

// maxText is how much memory a column keeps from one result to the next.
const maxText = 4 << 10

// read returns the text of the column's value, empty if it is absent.
func (c *column) read(r *graph.Result, turn uint64) []byte {
	if c.turn != turn {
		if cap(c.text) > maxText {
			c.text = nil
		}
		c.text, _ = c.selector.AppendText(c.text[:0], r)
		c.turn = turn
	}
	return c.text
}

// matches evaluates the matcher, once for each result.
func (p *probe) matches(r *graph.Result, turn uint64) bool {
	if p.turn != turn {
		p.is = p.matcher.MatchesText(p.column.read(r, turn))
		p.turn = turn
	}
	return p.is
}

// add files a silence.
func (x *index) add(it *item) {
	it.events = it.compiled.ReadsEvent()
	it.probes = it.probes[:0]
	for i := range it.compiled {
		p := x.probe(&it.compiled[i])
		p.users++
		it.probes = append(it.probes, p)
		if it.home == nil || better(p, it.home) {
			it.home = p
		}
	}
	p := it.home
	it.place = len(p.filed)
	p.filed = append(p.filed, it)
	if p.key.keyed() {
		if p.column.filed++; p.column.filed == 1 {
			x.lookup(p.column).show(p.column)
		}
	} else if len(p.filed) == 1 {
		x.scanned = append(x.scanned, p)
	}
}

// keyed reports whether the matcher is an equality with a value.
func (k probeKey) keyed() bool { return k.op == selector.Equal && k.value != "" }

// better reports whether a silence is rather filed under p than under q: under an equality
// with few silences, else under a matcher that is evaluated for many silences anyway.
func better(p, q *probe) bool {
	if p.key.keyed() != q.key.keyed() {
		return p.key.keyed()
	}
	if p.key.keyed() {
		return len(p.filed) < len(q.filed)
	}
	return len(p.filed) > len(q.filed)
}

// remove takes a silence out, and what only it needed.
func (x *index) remove(it *item) {
	p := it.home
	last := len(p.filed) - 1
	p.filed[it.place] = p.filed[last]
	p.filed[it.place].place = it.place
	p.filed[last] = nil
	p.filed = p.filed[:last]
	if p.key.keyed() {
		if p.column.filed--; p.column.filed == 0 {
			x.lookup(p.column).hide(p.column)
		}
	} else if last == 0 {
		x.scanned = without(x.scanned, p)
	}
	it.home = nil
	for _, p := range it.probes {
		if p.users--; p.users == 0 {
			x.drop(p)
		}
	}
	it.probes = it.probes[:0]
}

// probe returns the shared form of a matcher.
func (x *index) probe(m *selector.Matcher) *probe {
	c := m.Condition()
	key := probeKey{c.Selector, c.Op, c.Value}
	p := x.probes[key]
	if p != nil {
		return p
	}
	at := x.columns[c.Selector]
	if at == nil {
		at = &column{selector: m.Selector(), values: make(map[string]*probe)}
		x.columns[c.Selector] = at
	}
	at.users++
	p = &probe{key: key, matcher: m, column: at}
	x.probes[key] = p
	if key.keyed() {
		at.values[key.value] = p
	}
	return p
}

// drop forgets a matcher that no silence has any more.
func (x *index) drop(p *probe) {
	delete(x.probes, p.key)
	if p.key.keyed() {
		delete(p.column.values, p.key.value)
	}
	if p.column.users--; p.column.users == 0 {
		delete(x.columns, p.key.selector)
	}
}

// lookup returns where a column stands that is searched.
func (x *index) lookup(c *column) lookup {
	switch text := c.selector.String(); {
	case strings.HasPrefix(text, inFields):
		return x.fields
	case strings.HasPrefix(text, inGroups):
		return x.groups
	case strings.HasPrefix(text, inEnrichments):
		return &x.enrichments
	case c.selector.ReadsEvent():
		return &x.events
	}
	return &x.plain
}
