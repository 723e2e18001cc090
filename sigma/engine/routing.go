package engine

import (
	"bytes"
	"cmp"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
)

// Routing says how the logsource of an event is found.
type Routing struct {
	Fields ast.Logsource // fields that hold the dimensions; by default product, service and category
	Static ast.Logsource // values where the fields have none
	// Windows derives product, service and category of Windows records from their
	// channel, provider and event id, where neither fields nor Static have a value.
	Windows bool
}

// DefaultRouting reads each dimension from the field of its own name and derives
// those of Windows records.
func DefaultRouting() *Routing { return &Routing{Windows: true} }

// fields returns the names of the fields, defaults included.
func (r *Routing) fields() *ast.Logsource {
	f := r.Fields
	f.Product = cmp.Or(f.Product, "product")
	f.Service = cmp.Or(f.Service, "service")
	f.Category = cmp.Or(f.Category, "category")
	return &f
}

// names returns the fields that routing reads.
func (r *Routing) names() []string {
	if r == nil {
		return nil
	}
	var out []string
	for _, d := range dimensions(r.fields()) {
		out = append(out, d.value)
	}
	if r.Windows {
		out = append(out, windowsFields()...)
	}
	return out
}

type dimension struct{ name, value string }

// dimensions lists what a logsource sets, custom dimensions with a prefix.
func dimensions(l *ast.Logsource) []dimension {
	var out []dimension
	for _, d := range []dimension{{"product", l.Product}, {"service", l.Service}, {"category", l.Category}} {
		if d.value != "" {
			out = append(out, d)
		}
	}
	for _, k := range slices.Sorted(maps.Keys(l.Custom)) {
		if l.Custom[k] != "" {
			out = append(out, dimension{"custom." + k, l.Custom[k]})
		}
	}
	return out
}

// routeTable holds the logsources of all rules.
type routeTable struct {
	dims   []routeDimension // product, service and category come first
	fields []uint32         // of the dimensions
	record *recordFields    // nil derives nothing
	words  int
}

type routeDimension struct {
	name   string
	field  uint32 // 0 for none
	static string // lower case
	set    []uint64
	values map[string][]uint64 // lower case value: the rules that have it
}

func newRouteTable(rules []*ast.Rule, r *Routing, fields *compile.Fields) *routeTable {
	if r == nil {
		return nil
	}
	t := &routeTable{words: (len(rules) + 63) / 64}
	at := make(map[string]int)
	dim := func(name string) *routeDimension {
		i, ok := at[name]
		if !ok {
			i = len(t.dims)
			at[name] = i
			t.dims = append(t.dims, routeDimension{
				name: name, set: make([]uint64, t.words), values: make(map[string][]uint64),
			})
		}
		return &t.dims[i]
	}
	for _, name := range []string{"product", "service", "category"} {
		dim(name)
	}
	for _, d := range dimensions(r.fields()) {
		dim(d.name).field, _ = fields.Lookup(d.value)
	}
	for _, d := range dimensions(&r.Static) {
		dim(d.name).static = lower(d.value)
	}
	for i, rule := range rules {
		for _, d := range dimensions(&rule.Logsource) {
			x := dim(d.name)
			v := lower(d.value)
			if x.values[v] == nil {
				x.values[v] = make([]uint64, t.words)
			}
			x.values[v][i/64] |= 1 << (i % 64)
			x.set[i/64] |= 1 << (i % 64)
		}
	}
	for i := range t.dims {
		t.fields = append(t.fields, t.dims[i].field)
	}
	if r.Windows {
		t.record = newRecordFields(fields)
	}
	return t
}

func lower(s string) string {
	b := []byte(s)
	lowerASCII(b)
	return string(b)
}

func lowerASCII(b []byte) {
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
}

// route is what follows from one logsource.
type route struct {
	conflict []uint64 // rules that cannot apply
	pruned   int
	unset    bool // no dimension is set

	events int        // events that took the route, until it has a slot
	slot   *indexSlot // nil while it has none
}

// router caches routes by the values of the dimensions as received, with what a
// Windows record says of itself, and by the values of the dimensions without blanks and
// in lower case, in which all values that no rule has are one. So neither holds more
// than a little of what events say. Both caches are emptied when they grow too large.
type router struct {
	last     *route // of the event before, nil for none, and its key
	lastKey  []byte
	received map[string]*route
	routes   map[string]*route
	key      []byte
	values   []int // ends of the dimensions in key
}

const (
	maxRoutes   = 4096
	maxReceived = 256 // bytes of a key that is remembered as received

	// otherValue stands in a key for a value that no rule has, andValue between the
	// values of one dimension. No text has these bytes.
	otherValue = 0xff
	andValue   = 0xfe
)

// conflicts returns the rules whose logsource contradicts the event's, and the
// index of the event's route; nil without routing.
func (w *Worker) conflicts(d *decoded) ([]uint64, *routeIndex) {
	t := w.set.routes
	if t == nil {
		return nil, nil
	}
	r := w.routeReceived(t, d)
	w.stats.Pruned += uint64(r.pruned)
	if r.unset {
		w.stats.WithoutLogsource++
	}
	return r.conflict, w.set.routeIndex(r)
}

// routeReceived finds the route by the values as received: the fast path.
func (w *Worker) routeReceived(t *routeTable, d *decoded) *route {
	rec := w.record(t.record)
	if d.implied != nil {
		return w.route(t, d.implied, &rec)
	}
	if w.sameAsLast(t, &rec) {
		return w.router.last
	}
	key := w.router.key[:0]
	for i := range t.dims {
		c, _ := w.view.single(t.dims[i].field)
		key = w.view.appendReceived(key, c)
	}
	for _, c := range rec {
		key = w.view.appendReceived(key, c)
	}
	w.router.key = key
	if r := w.router.received[string(key)]; r != nil {
		w.router.last, w.router.lastKey = r, append(w.router.lastKey[:0], key...)
		return r
	}
	if len(key) > maxReceived {
		return w.route(t, nil, &rec)
	}
	received := string(key)
	r := w.route(t, nil, &rec)
	if w.router.received == nil || len(w.router.received) >= maxRoutes {
		w.router.received = make(map[string]*route)
	}
	w.router.received[received] = r
	return r
}

// appendReceived adds a value as received to a key; nil stands for none.
func (v *view) appendReceived(key []byte, c *scan.Cell) []byte {
	if c != nil {
		key = append(key, byte(c.Type))
		key = append(key, v.doc[c.Start:c.End]...)
	}
	return append(key, 0) // never inside a JSON value
}

// cutReceived takes a value as received off the front of a key, which has it or not.
func (v *view) cutReceived(key []byte, c *scan.Cell) (rest []byte, had bool) {
	n := 0
	if c != nil {
		n = 1 + int(c.End-c.Start)
		if len(key) <= n || key[0] != byte(c.Type) || string(key[1:n]) != string(v.doc[c.Start:c.End]) {
			return nil, false
		}
	}
	if len(key) <= n || key[n] != 0 {
		return nil, false
	}
	return key[n+1:], true
}

// sameAsLast reports whether the dimensions have the values that they had in the
// event before, and the event says the same of itself as a Windows record.
func (w *Worker) sameAsLast(t *routeTable, rec *record) bool {
	if w.router.last == nil {
		return false
	}
	v, key, same := &w.view, w.router.lastKey, false
	for _, field := range t.fields {
		var c *scan.Cell
		if at := v.first(field); at != none {
			c = &v.cells[at]
			if v.next[at] != none || c.Flags&scan.Terminal == 0 {
				return false // several, or none: rare
			}
		}
		if key, same = v.cutReceived(key, c); !same {
			return false
		}
	}
	if t.record == nil {
		return true
	}
	for _, c := range rec {
		if key, same = v.cutReceived(key, c); !same {
			return false
		}
	}
	return true
}

// route finds the route by the values in the form in which they are compared.
func (w *Worker) route(t *routeTable, implied *ast.Logsource, rec *record) *route {
	w.router.key, w.router.values = w.router.key[:0], w.router.values[:0]
	var ofRecord derived
	for i := range t.dims {
		d, at := &t.dims[i], len(w.router.key)
		w.appendOwn(d)
		if i == 0 {
			ofRecord = w.implied(rec, string(w.router.key[at:]))
		}
		switch own := w.router.key[at:]; {
		case len(own) > 0 && d.values[string(own)] == nil:
			w.router.key = append(w.router.key[:at], otherValue)
		case len(own) > 0:
		case i < len(ofRecord) && ofRecord[i] != nil:
			w.appendValues(d, ofRecord[i])
		case implied != nil:
			w.appendValues(d, valuesOf(implied, d.name))
		}
		w.router.key = append(w.router.key, 0)
		w.router.values = append(w.router.values, len(w.router.key))
	}
	if r := w.router.routes[string(w.router.key)]; r != nil {
		return r
	}
	return w.newRoute(t)
}

// appendOwn adds the value that the event or the configuration states, in lower case,
// nothing when there is none.
func (w *Worker) appendOwn(d *routeDimension) {
	at := len(w.router.key)
	if c, ok := w.view.single(d.field); ok {
		w.router.key, _ = c.Value(w.view.doc).AppendText(w.router.key)
		text := bytes.TrimSpace(w.router.key[at:])
		w.router.key = w.router.key[:at+copy(w.router.key[at:], text)]
		lowerASCII(w.router.key[at:])
		if len(text) > 0 {
			return
		}
	}
	w.router.key = append(w.router.key, d.static...)
}

// appendValues adds those of several values that some rule has.
func (w *Worker) appendValues(d *routeDimension, values []string) {
	at := len(w.router.key)
	for _, v := range values {
		if d.values[v] == nil {
			continue
		}
		if len(w.router.key) > at {
			w.router.key = append(w.router.key, andValue)
		}
		w.router.key = append(w.router.key, v...)
	}
	if len(w.router.key) == at && len(values) > 0 {
		w.router.key = append(w.router.key, otherValue)
	}
}

// valuesOf returns the value that a logsource has in a dimension, in lower case.
func valuesOf(l *ast.Logsource, dimension string) []string {
	for _, d := range dimensions(l) {
		if d.name == dimension {
			return []string{lower(d.value)}
		}
	}
	return nil
}

func (w *Worker) newRoute(t *routeTable) *route {
	r := &route{conflict: make([]uint64, t.words), unset: true}
	from := 0
	for i, end := range w.router.values {
		value := string(w.router.key[from : end-1])
		from = end
		if value == "" {
			continue
		}
		r.unset = false
		other := slices.Clone(t.dims[i].set)
		for v := range strings.SplitSeq(value, string([]byte{andValue})) {
			for n, same := range t.dims[i].values[v] {
				other[n] &^= same
			}
		}
		for n, set := range other {
			r.conflict[n] |= set
		}
	}
	for _, word := range r.conflict {
		r.pruned += bits.OnesCount64(word)
	}
	if w.router.routes == nil || len(w.router.routes) >= maxRoutes {
		w.router.routes = make(map[string]*route)
	}
	w.router.routes[string(w.router.key)] = r
	return r
}
