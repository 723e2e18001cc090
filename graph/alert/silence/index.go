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
	plain   []*column           // under which silences are filed, of the rule and the level
	fields  byName              // of matched fields
	groups  byName              // of group keys
	rich    []*column           // of enrichments
	events  []*column           // of events
	scanned []*probe            // with silences, and no equality with a value
	probes  map[probeKey]*probe // of these and of all columns
}

// byName are the columns of which a result has few by their names.
type byName map[string]*column

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
	return index{columns: make(map[string]*column), fields: make(byName), groups: make(byName), probes: make(map[probeKey]*probe)}
}

// maxText is how much memory a column keeps from one result to the next.
const maxText = 64 << 10

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

// search is one search for a silence that mutes a result.
type search struct {
	r          *graph.Result
	now        int64
	turn       uint64
	withEvents bool
}

// matches reports whether a silence mutes r at now. Without withEvents those that read the
// event do not.
func (x *index) matches(r *graph.Result, now int64, withEvents bool) bool {
	x.turn++
	s := search{r, now, x.turn, withEvents}
	for _, c := range x.plain {
		if s.column(c) {
			return true
		}
	}
	if s.fields(x.fields) || s.groups(x.groups) {
		return true
	}
	if len(r.Enrichments) > 0 {
		for _, c := range x.rich {
			if s.column(c) {
				return true
			}
		}
	}
	if withEvents {
		for _, c := range x.events {
			if s.column(c) {
				return true
			}
		}
	}
	for _, p := range x.scanned {
		if p.matches(r, s.turn) && s.any(p.filed) {
			return true
		}
	}
	return false
}

// fields looks at the columns of matched fields: at those that the result has, or at all if
// they are fewer.
func (s *search) fields(columns byName) bool {
	if s.r.Detection == nil {
		return false
	}
	fields := s.r.Detection.Fields
	if len(columns) <= len(fields) {
		return s.columns(columns)
	}
	for i := range fields {
		if c := columns[fields[i].Name]; c != nil && s.column(c) {
			return true
		}
	}
	return false
}

// groups is like fields for the group keys of correlations.
func (s *search) groups(columns byName) bool {
	if s.r.Correlation == nil {
		return false
	}
	key := s.r.Correlation.Key
	if len(columns) <= len(key) {
		return s.columns(columns)
	}
	for i := range key {
		if c := columns[key[i].Field]; c != nil && s.column(c) {
			return true
		}
	}
	return false
}

func (s *search) columns(columns byName) bool {
	for _, c := range columns {
		if s.column(c) {
			return true
		}
	}
	return false
}

// column looks at the silences that are filed under the value that the result has.
func (s *search) column(c *column) bool {
	text := c.read(s.r, s.turn)
	p := c.values[string(text)]
	return p != nil && len(p.filed) > 0 && s.any(p.filed)
}

// any reports whether one of the silences mutes the result.
func (s *search) any(filed []*item) bool {
	for _, it := range filed {
		if it.active(s.now) && (s.withEvents || !it.events) && s.all(it.probes) {
			return true
		}
	}
	return false
}

func (s *search) all(probes []*probe) bool {
	for _, p := range probes {
		if !p.matches(s.r, s.turn) {
			return false
		}
	}
	return true
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
			x.show(p.column)
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
			x.hide(p.column)
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

// list returns where a column stands that is searched: in a list, or by a name.
func (x *index) list(c *column) (list *[]*column, names byName, name string) {
	text := c.selector.String()
	if name, ok := strings.CutPrefix(text, "match."); ok {
		return nil, x.fields, name
	}
	if name, ok := strings.CutPrefix(text, "correlation.group_key."); ok {
		return nil, x.groups, name
	}
	switch {
	case strings.HasPrefix(text, "enrichment."):
		return &x.rich, nil, ""
	case c.selector.ReadsEvent():
		return &x.events, nil, ""
	}
	return &x.plain, nil, ""
}

// show makes searches look at a column.
func (x *index) show(c *column) {
	list, names, name := x.list(c)
	if list == nil {
		names[name] = c
		return
	}
	*list = append(*list, c)
}

// hide ends that.
func (x *index) hide(c *column) {
	list, names, name := x.list(c)
	if list == nil {
		delete(names, name)
		return
	}
	*list = without(*list, c)
}

// without returns the list without one of its entries; the last takes its place.
func without[T comparable](list []T, one T) []T {
	for i := range list {
		if list[i] == one {
			last := len(list) - 1
			list[i] = list[last]
			clear(list[last:])
			return list[:last]
		}
	}
	return list
}
