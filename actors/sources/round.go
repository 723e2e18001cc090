package sources

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sources/fetch"
)

// round is a fetch of every source, of which nothing counts until it is committed.
type round struct {
	values []value        // by number of the source
	at     []uint64       // versions that were current when the values came
	faults []*fetch.Error // of required sources without a value
	left   int
	done   chan struct{} // closed when nothing is left
}

func newRound(sources int) *round {
	return &round{values: make([]value, sources), at: make([]uint64, sources), faults: make([]*fetch.Error, sources), left: sources, done: make(chan struct{})}
}

// gather begins a round. Each source is fetched after this, a fetch that runs
// notwithstanding.
func (b *book) gather(r *round) {
	for _, e := range b.entries {
		b.want(e, request{rounds: []*round{r}})
	}
}

// stage takes the value of a source, and reports whether the round is complete.
func (r *round) stage(e *entry, v value, o outcome) bool {
	r.values[e.number], r.at[e.number] = v, e.version
	if v.basis == unresolved && e.Required {
		r.faults[e.number] = o.failure
	}
	r.left--
	return r.left == 0
}

// commit makes the values of a round the current ones, but for those that have changed
// since: these are returned when they are others.
func (b *book) commit(r *round) (later []string) {
	for i, e := range b.entries {
		switch {
		case e.version == r.at[i]:
			v := r.values[i]
			v.stored = v.stored && e.restored // unless the same was fetched since
			e.set(v)
		case e.id != r.values[i].id:
			later = append(later, e.ID)
		}
	}
	return later
}

// UnresolvedError says which required sources have no value.
type UnresolvedError struct{ Faults []*fetch.Error }

// Error names every source, and why.
func (e *UnresolvedError) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.Error()
	}
	if len(lines) == 1 {
		return "a required source has no value: " + lines[0]
	}
	return fmt.Sprintf("%d required sources have no value:\n%s", len(lines), strings.Join(lines, "\n"))
}

// err is an *UnresolvedError if a required source has no value.
func (r *round) err() error {
	faults := slices.DeleteFunc(slices.Clone(r.faults), func(f *fetch.Error) bool { return f == nil })
	if len(faults) == 0 {
		return nil
	}
	return &UnresolvedError{faults}
}
