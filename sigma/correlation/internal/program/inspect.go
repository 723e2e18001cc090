package program

import (
	"cmp"
	"sort"
	"strings"

	"github.com/sluicehq/sluice/sigma/correlation/internal/exact"
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// Inspect computes the aggregate from the entries alone: those of a view have
// nothing else.
func (c *Condition) Inspect(w window.Window) (got *float64, met bool) {
	var value float64
	switch w := w.(type) {
	case *window.Hits:
		_, _, met = c.Evaluate(w)
		return new(float64(w.Count())), met
	case *window.Distinct:
		value = float64(w.Recount())
	case *window.Numbers:
		if w.Len() == 0 {
			return nil, false
		}
		value = c.recompute(w)
	default:
		value = float64(w.Len())
	}
	if value-value != 0 { // infinite: not defined
		return nil, false
	}
	return &value, c.within(value)
}

func (c *Condition) recompute(w *window.Numbers) float64 {
	if c.kind == sum || c.kind == average {
		var total exact.Sum
		for _, v := range w.All() {
			total.Add(v)
		}
		if c.kind == sum {
			return total.Value()
		}
		return total.Value() / float64(w.Len())
	}
	sorted := make([]float64, 0, w.Len())
	for _, v := range w.All() {
		sorted = append(sorted, v)
	}
	sort.Float64s(sorted)
	at := func(i int) float64 { return sorted[i] }
	if c.kind == median {
		return window.Median(len(sorted), at)
	}
	return window.Percentile(c.percentile, len(sorted), at)
}

// Compare orders keys by what Display makes of them, and equal ones by themselves. Of
// most it makes nothing.
func (c *Correlation) Compare(a, b string) int {
	restA, restB := a, b
	for range c.Source.GroupBy {
		var partA, partB string
		partA, restA = shown(restA)
		partB, restB = shown(restB)
		switch {
		case partA == partB:
		case strings.HasPrefix(partA, partB), strings.HasPrefix(partB, partA): // what follows the shorter one decides
			return cmp.Or(strings.Compare(c.Display(a), c.Display(b)), strings.Compare(a, b))
		default:
			return strings.Compare(partA, partB)
		}
	}
	return strings.Compare(a, b)
}

// shown is what is displayed of the first part of a key, and what follows it.
func shown(key string) (part, rest string) {
	part, ok, rest := match.Cut(key)
	if !ok {
		part = "<none>"
	}
	return part, rest
}

// Display is the key as introspection shows it.
func (c *Correlation) Display(key string) string {
	if len(c.Source.GroupBy) == 0 {
		return "(no group-by)"
	}
	var b strings.Builder
	for i, name := range c.Source.GroupBy {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(name)
		b.WriteByte('=')
		var part string
		part, key = shown(key)
		b.WriteString(part)
	}
	return b.String()
}
