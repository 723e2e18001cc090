package step

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/clip"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
)

// Origins finds out whether most results come from rules of products that the events
// cannot be from, such as rules for a firewall on Windows events. It is shared by the
// workers of an evaluation, which count after each batch with results; events without
// results cost nothing. Any goroutine may use it.
type Origins struct {
	Least uint64 // results before there is an answer

	told atomic.Bool // nothing is counted any more

	mu      sync.Mutex        // guards what follows
	results map[string]uint64 // by product of the rule; empty for rules that name none
	shown   map[string]uint64 // events looked at, by the product they show; empty for none
	judged  uint64            // results of those that show one
	foreign uint64            // of these: of rules for another product
}

// maxShown is how many products of events are told apart.
const maxShown = 16

// Which events with results are looked at: the first, then few.
const (
	looksAtFirst = 64
	looksAtEvery = 64
)

// of returns what a worker of a set counts with; nil when there is nothing to count.
func (o *Origins) of(set *engine.Set) *products {
	names, ofRule := set.Products()
	if o == nil || set.Options().Routing != nil || len(names) == 1 {
		return nil
	}
	return &products{origins: o, names: names, ofRule: ofRule, results: make([]uint64, len(names))}
}

// products is a worker's part in counting. It belongs to one goroutine.
type products struct {
	origins *Origins
	names   []string
	ofRule  []uint32
	results []uint64 // of the batch, by product
	events  uint64   // with results, so far
	looked  []finding
}

// finding is an event that is looked at, with the numbers of its results.
type finding struct{ event, from, to uint32 }

// met notes an event of the batch in hand that has results.
func (p *products) met(f finding) {
	if p.events++; p.events <= looksAtFirst || p.events%looksAtEvery == 0 {
		p.looked = append(p.looked, f)
	}
}

// forget drops the events whose results are not among the first so many.
func (p *products) forget(results int) {
	if p == nil {
		return
	}
	for n := len(p.looked); n > 0 && int(p.looked[n-1].to) > results; n-- {
		p.looked = p.looked[:n-1]
	}
}

// count counts the results of a batch.
func (p *products) count(b *graph.Batch) {
	if p == nil {
		return
	}
	defer func() { p.looked = p.looked[:0] }()
	if b.Results.Len() == 0 || p.origins.told.Load() {
		return
	}
	clear(p.results)
	for i := range b.Results.Len() {
		p.results[p.ofRule[b.Results.At(i).Rule.Index]]++
	}
	o := p.origins
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.results == nil {
		o.results, o.shown = make(map[string]uint64), make(map[string]uint64)
	}
	for n, count := range p.results {
		if count > 0 {
			o.results[readable(p.names[n])] += count
		}
	}
	for _, f := range p.looked {
		p.look(b, f)
	}
}

// look compares the results of an event with what it shows.
func (p *products) look(b *graph.Batch, f finding) {
	o := p.origins
	shown := readable(b.Events.Product(int(f.event)))
	if _, known := o.shown[shown]; !known && len(o.shown) >= maxShown {
		return
	}
	o.shown[shown]++
	if shown == "" {
		return
	}
	for i := f.from; i < f.to; i++ {
		o.judged++
		if name := p.names[p.ofRule[b.Results.At(int(i)).Rule.Index]]; name != "" && readable(name) != shown {
			o.foreign++
		}
	}
}

// Misplaced says that most results come from rules of products that the events cannot be
// from.
type Misplaced struct {
	Results string // by product of the rule, most first
	Events  string // products that the events show; empty when most show none
}

// Misplaced returns an answer when there is one. Events that show a product are judged
// by it. Where most show none, there is an answer when most results are of rules that
// name a product, and not all of them the same.
func (o *Origins) Misplaced() (Misplaced, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var total, looks uint64
	for _, n := range o.results {
		total += n
	}
	for _, n := range o.shown {
		looks += n
	}
	silent, none := o.shown[""], o.results[""]
	named := len(o.results)
	if none > 0 {
		named--
	}
	switch {
	case total < o.Least || looks == 0:
		return Misplaced{}, false
	case 2*silent > looks:
		return Misplaced{Results: ranking(o.results)}, named > 1 && 2*(total-none) > total
	}
	var events []string
	for _, name := range slices.Sorted(maps.Keys(o.shown)) {
		if name != "" {
			events = append(events, name)
		}
	}
	return Misplaced{ranking(o.results), list(events)}, 2*o.foreign > o.judged
}

// Once is Misplaced until it has given an answer, and counting ends with that.
func (o *Origins) Once() (Misplaced, bool) {
	if o == nil || o.told.Load() {
		return Misplaced{}, false
	}
	m, ok := o.Misplaced()
	if !ok || o.told.Swap(true) {
		return Misplaced{}, false
	}
	return m, true
}

// maxListed is how many products a message names.
const maxListed = 6

// ranking lists products by their results, most first.
func ranking(results map[string]uint64) string {
	names := slices.SortedFunc(maps.Keys(results), func(a, b string) int {
		return cmp.Or(cmp.Compare(results[b], results[a]), cmp.Compare(a, b))
	})
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", cmp.Or(name, "none"), results[name])
	}
	return list(names)
}

// maxProduct is how much of a product's name a message shows, in bytes.
const maxProduct = 64

// readable is a name from an event or a rule as a message may show it.
func readable(name string) string {
	return ast.Printable(clip.Text(name, maxProduct))
}

func list(items []string) string {
	more := ""
	if n := len(items) - maxListed; n > 0 {
		items, more = items[:maxListed], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(items, ", ") + more
}
