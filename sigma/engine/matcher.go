package engine

import (
	"context"
	"math"
	"slices"

	"github.com/sluicehq/sluice/internal/parallel"
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/engine/internal/literal"
	"github.com/sluicehq/sluice/sigma/engine/internal/scan"
	"github.com/sluicehq/sluice/sigma/event"
)

// matcher finds the early predicates that hold for the values of one field.
type matcher struct {
	present  []uint32     // hold for every value
	literals *literal.Set // nil for none
	numbers  map[uint64][]uint32
	direct   []uint32 // evaluated one by one
	content  bool     // more than the presence of a value matters
}

// wanted says which matchers are built, and how. The zero value builds those of all
// fields for all early predicates.
type wanted struct {
	preds   []uint64    // bits: look for these alone; nil for all
	fields  []bool      // by field: the others are taken over; nil for all
	before  []*matcher  // from here
	stopped func() bool // asked between two fields: true gives up; nil uses all cores
}

// newMatchers builds matchers by field; a field that needs none has nil. When it is
// given up, the result is nil.
func newMatchers(p *compile.Plan, want wanted) []*matcher {
	out := make([]*matcher, len(p.Fields.List))
	for f := range want.fields {
		if !want.fields[f] {
			out[f] = want.before[f]
		}
	}
	builders := make([]*literal.Builder, len(out))
	for id := range p.Preds {
		pred := &p.Preds[id]
		if !pred.Early || want.preds != nil && want.preds[id/64]>>(id%64)&1 == 0 {
			continue
		}
		f := pred.Field
		if want.fields != nil && !want.fields[f] {
			continue
		}
		if out[f] == nil {
			out[f] = new(matcher)
		}
		if pred.Direct {
			out[f].direct = append(out[f].direct, uint32(id))
			continue
		}
		if pred.IsText() && builders[f] == nil {
			builders[f] = literal.NewBuilder(p.Rarity)
		}
		switch b, id := builders[f], uint32(id); pred.Kind {
		case compile.Present:
			out[f].present = append(out[f].present, id)
		case compile.Equal:
			out[f].addNumber(pred.More.Number, id)
		case compile.Among:
			for _, text := range pred.More.Texts.List {
				compile.AddLiteral(b, pred.Op, text, id)
			}
		default:
			compile.AddLiteral(b, pred.Kind, pred.Text, id)
		}
	}
	finish := func(f int) {
		m := out[f]
		if want.fields != nil && !want.fields[f] {
			return
		}
		if b := builders[f]; b != nil {
			m.literals = b.Build()
		}
		if m != nil {
			m.content = m.literals != nil || m.numbers != nil || m.direct != nil
		}
	}
	if want.stopped == nil {
		_ = parallel.For(context.Background(), len(out), finish)
		return out
	}
	for f := range out { // beside the evaluation, which needs the cores
		if want.stopped() {
			return nil
		}
		finish(f)
	}
	return out
}

func (m *matcher) addNumber(n event.Numeric, id uint32) {
	if m.numbers == nil {
		m.numbers = make(map[uint64][]uint32)
	}
	k := numberKey(n)
	m.numbers[k] = append(m.numbers[k], id)
}

// numberKey is the same for all numbers that compare equal.
func numberKey(n event.Numeric) uint64 {
	if n.Float == 0 {
		return 0 // also for the negative zero
	}
	return math.Float64bits(n.Float)
}

// findCandidates looks at every value of the current event. It marks the early
// predicates that hold and adds their rules to the candidates. F may be nil.
func (w *Worker) findCandidates(f *routeIndex) {
	matchers, number := w.set.matchers, uint32(0)
	if f != nil {
		matchers, number = f.matchers, f.number
	}
	keywords := matchers[compile.Keywords]
	for i := range w.view.cells {
		c := &w.view.cells[i]
		m, k := matchers[c.Field], keywords
		if c.Flags&scan.Keyword == 0 {
			k = nil
		}
		if m != nil {
			for _, id := range m.present {
				w.hit(id)
			}
			if !m.content {
				m = nil
			}
		}
		if m == nil && k == nil || !hasText(c) {
			continue
		}
		slot, known := w.cache.get(c, i, w.view.doc, k != nil, number)
		ids := w.ids[:0]
		if known {
			ids = w.cache.ids(slot)
		} else {
			ids = w.search(ids, m, k, int32(i))
			w.ids = ids
			w.cache.put(slot, ids)
		}
		for _, id := range ids {
			w.hit(id)
		}
	}
}

// hit marks an early predicate as true and adds its rules to the candidates.
func (w *Worker) hit(id uint32) {
	w.truth.set(id)
	p := w.set.plan
	for _, rule := range p.Candidates[p.CandidateStart[id]:p.CandidateStart[id+1]] {
		w.candidates.add(rule)
	}
}

// search looks at the text and the number of cell i.
func (w *Worker) search(dst []uint32, m, k *matcher, i int32) []uint32 {
	if m != nil {
		dst = w.searchText(dst, m, i)
		if m.numbers != nil {
			dst = w.searchNumber(dst, m, i)
		}
	}
	if k != nil {
		dst = w.searchText(dst, k, i)
	}
	return unique(dst)
}

func (w *Worker) searchText(dst []uint32, m *matcher, i int32) []uint32 {
	if m.literals != nil {
		dst = m.literals.Find(dst, w.view.searched(i), w.view.cells[i].Flags&scan.High != 0)
	}
	for _, id := range m.direct {
		if w.textHolds(&w.set.plan.Preds[id], i) {
			dst = append(dst, id)
		}
	}
	return dst
}

func (w *Worker) searchNumber(dst []uint32, m *matcher, i int32) []uint32 {
	n, ok := w.view.numeric(i)
	if !ok {
		return dst
	}
	for _, id := range m.numbers[numberKey(n)] {
		if w.set.plan.Preds[id].MatchNumber(n) {
			dst = append(dst, id)
		}
	}
	return dst
}

// unique drops repetitions from a short list.
func unique(ids []uint32) []uint32 {
	if len(ids) > 1 {
		slices.Sort(ids)
		ids = slices.Compact(ids)
	}
	return ids
}
