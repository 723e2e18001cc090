package alert

import "github.com/sluicehq/sluice/graph"

// work is the result set in hand. Results are gone through one by one, so that the second
// attempt after a panic begins with the result that panicked, and those before it do not
// count twice.
type work struct {
	set  *graph.ResultSet
	now  int64
	at   int // of the result in hand
	kept int // results before it that go on

	one    [1]graph.Result // the result in hand, which is changed here first
	single graph.ResultSet
}

// process takes the results out of a set that do not go on, and reports whether any does.
// A set of which none does has ended.
func (a *shell) process(set *graph.ResultSet, now int64) (goesOn bool) {
	w := &a.work
	w.set, w.now, w.at, w.kept = set, now, 0, 0
	cause := a.isolate.Step(a.step, nil)
	w.set, w.one[0], w.single = nil, graph.Result{}, graph.ResultSet{}
	if cause != nil {
		a.Quarantine(set.Raw, set.Token, cause)
		return false
	}
	clear(set.Results[w.kept:])
	set.Results = set.Results[:w.kept]
	if w.kept == 0 {
		set.Token.Settle()
		return false
	}
	return true
}

// rest goes through the results from the one in hand on.
func (a *shell) rest() {
	w := &a.work
	for w.at < len(w.set.Results) {
		w.one[0] = w.set.Results[w.at]
		w.single = graph.ResultSet{Results: w.one[:], Held: w.set.Held}
		out := a.pipeline.Process(&w.single, w.now)
		w.set.Held = w.single.Held
		if len(w.single.Results) > 0 {
			w.set.Results[w.kept] = w.single.Results[0]
			w.kept++
		}
		w.at++ // it is through, whatever happens now
		a.metrics.count(out)
		a.notices.add(out)
		if out.Overwritten > 0 {
			a.log.Debug("the enrichment incident_id is replaced by the id of the incident", "rule", w.one[0].Title())
		}
	}
}
