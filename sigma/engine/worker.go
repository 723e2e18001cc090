package engine

import (
	"github.com/sluicehq/sluice/sigma/engine/internal/lazydfa"
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/result"
)

// Worker decodes and evaluates events of a set. It belongs to one goroutine.
type Worker struct {
	set     *Set
	scanner *scan.Scanner
	pairs   Pairs // being made

	view       view
	shown      shown // what is in view
	truth      truth
	candidates candidates
	asked      []answer // by detection of the scope at work, nil while none repeats
	answers    []answer // of all scopes at work
	cache      cache
	ids        []uint32
	machines   *lazydfa.Pool // by number of the expression
	references references
	values     values
	router     router
	hits       []event.Hit
	names      []string
	kept       [][]*result.Selections // by load index: lists of earlier detections
	fields     []result.Field
	scratch    []byte
	folded     []byte
	render     []byte
	stats      Stats
}

// Stats count what routing did.
type Stats struct {
	Pruned           uint64 // rules in conflict with an event's logsource, summed over events
	WithoutLogsource uint64 // events of which no dimension was set
}

// NewWorker returns a worker with scratch space of its own.
func (s *Set) NewWorker() *Worker {
	w := &Worker{set: s, scanner: scan.NewScanner(s.plan.Fields.Table)}
	w.view.init(len(s.plan.Fields.List))
	w.truth.init(s)
	w.candidates.init(s)
	w.kept = make([][]*result.Selections, len(s.handles))
	w.machines = lazydfa.NewPool(s.plan.Machines, lazydfa.PoolBytes)
	w.cache.init(len(s.plan.Fields.List))
	w.values.fields = make([]fieldShown, len(s.plan.Fields.List))
	return w
}

// TakeStats returns the counts since the last call.
func (w *Worker) TakeStats() Stats {
	s := w.stats
	w.stats = Stats{}
	return s
}

// Evaluate appends the detections of event i to out, in ascending load index.
// Arrival is the second in which the batch was formed.
func (w *Worker) Evaluate(ev *Events, i int, arrival int64, out *result.Batch) {
	w.open(ev, i)
	w.truth.clear()
	w.candidates.clear()
	conflicts, index := w.conflicts(&ev.list[i])
	w.findCandidates(index)
	if len(w.set.plan.Groups) > 0 {
		w.candidates.expand(w.set.plan)
	}
	w.candidates.rules(conflicts, func(rule uint32) {
		if w.run(w.set.plan.Programs[rule]) {
			w.detect(ev, i, rule, arrival, out)
		}
	})
}

// detect appends the detection of a rule that the event met.
func (w *Worker) detect(ev *Events, i int, rule uint32, arrival int64, out *result.Batch) {
	extra := w.set.include[rule] || w.set.timed
	if d := w.set.constant[rule]; d != nil && !extra {
		out.Append(d)
		return
	}
	w.explain(rule, out)
	s := w.selections(rule)
	if len(w.fields) == 0 && !extra {
		out.Append(s.Detection())
		return
	}
	d := out.Add(w.set.handles[rule])
	d.Selections = s
	d.Fields = out.FieldList(w.fields)
	if extra {
		d.Extra = w.extra(ev, i, rule, arrival, out)
	}
}

// maxKept bounds the lists of selections that are kept for a rule.
const maxKept = 4

// selections returns w.names as a list that stays valid. A rule mostly fires for
// the same selections, so the worker keeps the first few lists.
func (w *Worker) selections(rule uint32) *result.Selections {
	for _, s := range w.kept[rule] {
		if s.Are(w.names) {
			return s
		}
	}
	s := result.NewSelections(w.set.handles[rule], w.names)
	if len(w.kept[rule]) < maxKept {
		w.kept[rule] = append(w.kept[rule], s)
	}
	return s
}

// Time returns the time of event i in Unix seconds: that of the first timestamp
// field that has one.
func (w *Worker) Time(ev *Events, i int) (unix int64, ok bool) {
	w.show(ev, i)
	return w.time()
}

// time returns the time of the current event.
func (w *Worker) time() (unix int64, ok bool) {
	for _, field := range w.set.times {
		if w.view.first(field) == none {
			continue // nearly always
		}
		c, single := w.view.single(field)
		if !single {
			continue
		}
		unix, ok, w.scratch = c.Value(w.view.doc).Instant(w.scratch)
		if ok {
			return unix, true
		}
	}
	return 0, false
}
