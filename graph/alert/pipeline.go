package alert

import (
	"hash/maphash"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/dedup"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/alert/inhibit"
	"github.com/sluicehq/sluice/graph/alert/sample"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/sigma/event"
)

// IncidentID is the enrichment that names the incident of a result.
const IncidentID = "incident_id"

// Options say what a pipeline is made with.
type Options struct {
	// NewID makes ids of incidents of an entity graph: UUIDs of version 4.
	NewID func() string
}

// Pipeline is the state of an alert pipeline. It is for one goroutine.
type Pipeline struct {
	file      *File // nil: no pipeline, which only holds silences
	newID     func() string
	silences  *silence.Set
	inhibit   *inhibit.Index
	dedup     *dedup.Store    // nil without the section
	incidents *incident.Store // nil without the section
	mutes     mutes
	revision  uint64
	outcome   Outcome // of the set in hand
}

// New returns a pipeline without state. Without a file it leaves results alone and holds
// silences.
func New(f *File, o Options) *Pipeline {
	p := &Pipeline{newID: o.NewID, silences: silence.NewSet(), inhibit: inhibit.New(), mutes: mutes{seed: maphash.MakeSeed()}}
	p.Configure(f, 0, nil)
	return p
}

// Silences are those of the file and those that were made while it runs.
func (p *Pipeline) Silences() *silence.Set { return p.silences }

// MaxSilences is how many silences may be made beside those of the file.
func (p *Pipeline) MaxSilences() int {
	if p.file == nil {
		return MaxSilences
	}
	return p.file.MaxSilences
}

// Processes reports whether there is anything to do to results.
func (p *Pipeline) Processes() bool { return p.file != nil }

// Outcome is what happened to the results of a set. It is valid until the next call.
type Outcome struct {
	Deduplicated bool     // the section is there; Emitted and Folded say how it went
	Emitted      int      // results that went on through deduplication
	Folded       int      // that repeat an active alert
	Silenced     int      // that a silence mutes
	Inhibited    []string // the names of the rules that dropped a result each
	Unstored     int      // went on without an alert, because there are too many
	Ungrouped    int      // went on without an incident, because there are too many
	StopValues   int      // values that never join incidents
	Ceiling      int      // values that are too frequent to join two incidents
	Unindexed    int      // values beyond all bounds, which lead to no incident
	Evicted      int      // sources of inhibition that had to go, because there are too many
	Overwritten  int      // enrichments that had the name of the incident's id
}

// Process goes through the results of a set in their order and takes those out that do not
// go on. The set may be empty afterwards.
func (p *Pipeline) Process(set *graph.ResultSet, now int64) *Outcome {
	p.outcome = Outcome{Inhibited: p.outcome.Inhibited[:0]}
	if p.file == nil {
		return &p.outcome
	}
	kept := 0
	for i := range set.Results {
		r := &set.Results[i]
		if p.file.Scope.Admits(r) {
			p.revision++
			if !p.admit(set, i, now) {
				set.Held -= r.Size()
				continue
			}
		}
		if kept != i {
			set.Results[kept] = *r
		}
		kept++
	}
	clear(set.Results[kept:])
	set.Results = set.Results[:kept]
	set.Held = max(0, set.Held)
	return &p.outcome
}

// admit reports whether a result that is in scope goes on.
func (p *Pipeline) admit(set *graph.ResultSet, i int, now int64) bool {
	r, out := &set.Results[i], &p.outcome
	if name, inhibited := p.inhibit.Inhibits(r, now); inhibited {
		out.Inhibited = append(out.Inhibited, name)
		return false
	}
	before := p.inhibit.Evicted()
	p.inhibit.Observe(r, now)
	out.Evicted += int(p.inhibit.Evicted() - before)
	var active *dedup.Alert
	muted := p.silences.Mutes(r, now)
	if p.dedup != nil {
		active = p.dedup.Find(r)
	}
	if active != nil {
		p.dedup.Fold(active, now)
		p.refresh(active.Incident(), r, now)
	}
	switch {
	case muted:
		out.Silenced++
		return false
	case active != nil:
		out.Folded++
		return false
	}
	p.open(set, i, now)
	if p.file.Strip {
		set.Held -= sample.Strip(r)
	}
	return true
}

// refresh tells the incident of an alert that it goes on.
func (p *Pipeline) refresh(in incident.Ref, r *graph.Result, now int64) {
	if p.incidents != nil && in != (incident.Ref{}) {
		p.incidents.Refresh(in, r.RuleKey(), now)
	}
}

// open groups a result that goes on, and opens an alert for it.
func (p *Pipeline) open(set *graph.ResultSet, i int, now int64) {
	r, out := &set.Results[i], &p.outcome
	var in incident.Ref
	if p.incidents != nil {
		var o incident.Outcome
		in, o = p.incidents.Assign(r, now)
		out.Ungrouped += o.Refused
		out.StopValues += o.StopValues
		out.Ceiling += o.Ceiling
		out.Unindexed += o.Unindexed
	}
	if in != (incident.Ref{}) {
		object, replaced := sample.With(r.Enrichments, IncidentID, event.AppendQuoted(nil, p.incidents.ID(in)))
		set.Enrich(i, object)
		if replaced {
			out.Overwritten++
		}
	}
	if p.dedup == nil {
		return
	}
	out.Emitted++
	switch {
	case !p.dedup.Open(r, now, in):
		out.Unstored++
	case in != (incident.Ref{}):
		p.incidents.Name(in)
	}
}
