package correlation

import (
	"slices"

	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

// View is the state of an engine at one moment. It never changes, and any goroutine
// may read it while the engine goes on.
type View struct {
	clock    streamClock
	revision uint64
	limits   Limits
	secret   match.Secret
	layout   *layout
	states   []stateView
}

type stateView struct {
	c          *program.Correlation
	groups     []*group // by slot, nil where free
	live       int
	tombstones int
	sweeps     uint32
	cutoff     int64
}

// Export returns a view of the state. It copies one pointer for each group and
// shares the groups themselves until they change.
func (e *Engine) Export() *View {
	e.exports++
	v := &View{clock: e.clock, revision: e.revision, limits: e.limits, secret: e.secret, layout: e.layout, states: make([]stateView, len(e.states))}
	for i, st := range e.states {
		v.states[i] = stateView{
			c: st.c, groups: slices.Clone(st.groups), live: st.live,
			tombstones: len(st.groups) - len(st.free) - st.live, sweeps: st.sweeps, cutoff: st.cutoff,
		}
	}
	return v
}

// Revision is that of the engine when the view was taken.
func (v *View) Revision() uint64 { return v.revision }

// Correlations returns the number of correlations.
func (v *View) Correlations() int { return len(v.states) }

// Groups returns the number of groups.
func (v *View) Groups() int {
	n := 0
	for i := range v.states {
		n += v.states[i].live
	}
	return n
}
