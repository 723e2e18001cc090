package engine

import (
	"bytes"
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
)

// Routing says how the logsource of an event is found.
type Routing struct {
	Fields ast.Logsource // fields that hold the dimensions; by default product, service and category
	Static ast.Logsource // values where the fields have none
}

// DefaultRouting reads each dimension from the field of its own name.
func DefaultRouting() *Routing { return new(Routing) }

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
	dims   []routeDimension
	fields []uint32 // of the dimensions
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

// router caches routes by the values of the dimensions as received, and by those
// values without blanks and in lower case, in which all values that no rule has are
// one. So neither holds more than a little of what events say. Both caches are
// emptied when they grow too large.
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

	// otherValue stands in a key for a value that no rule has. No text has this byte.
	otherValue = 0xff
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
	if d.implied != nil {
		return w.route(t, d.implied)
	}
	if w.sameAsLast(t) {
		return w.router.last
	}
	key := w.router.key[:0]
	for i := range t.dims {
		if c, ok := w.view.single(t.dims[i].field); ok {
			key = append(key, byte(c.Type))
			key = append(key, w.view.doc[c.Start:c.End]...)
		}
		key = append(key, 0) // never inside a JSON value
	}
	w.router.key = key
	if r := w.router.received[string(key)]; r != nil {
		w.router.last, w.router.lastKey = r, append(w.router.lastKey[:0], key...)
		return r
	}
	if len(key) > maxReceived {
		return w.route(t, nil)
	}
	received := string(key)
	r := w.route(t, nil)
	if w.router.received == nil || len(w.router.received) >= maxRoutes {
		w.router.received = make(map[string]*route)
	}
	w.router.received[received] = r
	return r
}

// sameAsLast reports whether the dimensions have the values that they had in the
// event before.
func (w *Worker) sameAsLast(t *routeTable) bool {
	if w.router.last == nil {
		return false
	}
	v, key := &w.view, w.router.lastKey
	for _, field := range t.fields {
		n := 0
		if at := v.first(field); at != none {
			c := &v.cells[at]
			if v.next[at] != none || c.Flags&scan.Terminal == 0 {
				return false // several, or none: rare
			}
			n = 1 + int(c.End-c.Start)
			if len(key) <= n || key[0] != byte(c.Type) || string(key[1:n]) != string(v.doc[c.Start:c.End]) {
				return false
			}
		}
		if len(key) <= n || key[n] != 0 {
			return false
		}
		key = key[n+1:]
	}
	return true
}

// route finds the route by the values in the form in which they are compared.
func (w *Worker) route(t *routeTable, implied *ast.Logsource) *route {
	w.router.key, w.router.values = w.router.key[:0], w.router.values[:0]
	for i := range t.dims {
		at := len(w.router.key)
		w.appendDimension(&t.dims[i], implied)
		if value := w.router.key[at:]; len(value) > 0 && t.dims[i].values[string(value)] == nil {
			w.router.key = append(w.router.key[:at], otherValue)
		}
		w.router.key = append(w.router.key, 0)
		w.router.values = append(w.router.values, len(w.router.key))
	}
	if r := w.router.routes[string(w.router.key)]; r != nil {
		return r
	}
	return w.newRoute(t)
}

// appendDimension adds the event's value of a dimension to the key, in lower
// case, nothing when it is unset.
func (w *Worker) appendDimension(d *routeDimension, implied *ast.Logsource) {
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
	if d.static != "" || implied == nil {
		w.router.key = append(w.router.key, d.static...)
		return
	}
	for _, i := range dimensions(implied) {
		if i.name == d.name {
			w.router.key = append(w.router.key, lower(i.value)...)
		}
	}
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
		same := t.dims[i].values[value]
		for n, set := range t.dims[i].set {
			if same != nil {
				set &^= same[n]
			}
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
