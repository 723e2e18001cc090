package alert

import (
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/dedup"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/alert/silence"
)

// Ticked is what happened at a tick.
type Ticked struct {
	Repeated, Resolved int                      // summaries of alerts
	Incidents          map[incident.Trigger]int // records of incidents; nil for none
	Expired            []*silence.Silence       // are gone
}

// Records is how many records came out.
func (t *Ticked) Records() int {
	n := t.Repeated + t.Resolved
	for _, more := range t.Incidents {
		n += more
	}
	return n
}

// Tick gives emit the records that are due at now: those of alerts first, then those of
// incidents, the oldest first. It forgets silences and sources of inhibition whose time is
// over.
func (p *Pipeline) Tick(now int64, emit func(graph.Record)) Ticked {
	t := p.ticker(now, emit)
	if p.dedup != nil {
		p.dedup.Tick(now, t.muted, t.summary, t.gone)
	}
	if p.incidents != nil {
		p.incidents.Tick(now, t.muted, t.incident)
	}
	t.Expired = p.silences.Expire(now)
	p.inhibit.Expire(now)
	return t.end()
}

// Last is the last tick: of a daemon that ends, or behind the last result of an input that
// has an end. Unless the state is kept for another run, it reports the incidents that nobody
// has heard of, whatever their age.
func (p *Pipeline) Last(now int64, kept bool, emit func(graph.Record)) Ticked {
	t := p.Tick(now, emit)
	if kept || p.incidents == nil {
		return t
	}
	last := p.ticker(now, emit)
	last.Ticked = t
	p.incidents.Last(now, last.muted, last.incident)
	return last.end()
}

// Configure goes on with another file. State whose section is gone ends with a record for
// each alert, and for each incident that somebody has heard of. emit may be nil as long as
// there is no state.
func (p *Pipeline) Configure(f *File, now int64, emit func(graph.Record)) Ticked {
	t := p.ticker(now, emit)
	p.file = f
	if f == nil {
		f = &File{}
	}
	p.silences.Replace(f.Silences)
	p.inhibit.Configure(f.Inhibit)
	p.mutes.forget()
	switch {
	case f.Dedup == nil && p.dedup != nil:
		p.dedup.Close(t.summary, t.gone)
		p.dedup = nil
	case f.Dedup != nil && p.dedup == nil:
		p.dedup = dedup.New(*f.Dedup)
	case f.Dedup != nil:
		p.dedup.Configure(*f.Dedup)
	}
	switch {
	case f.Group == nil && p.incidents != nil:
		p.incidents.Close(t.incident)
		p.incidents = nil
	case f.Group != nil && p.incidents == nil:
		p.incidents = incident.New(*f.Group, p.newID)
	case f.Group != nil:
		p.incidents.Configure(*f.Group)
	}
	p.revision++
	return t.end()
}

// Renew applies the silences of the file again: one that was deleted comes back.
func (p *Pipeline) Renew() {
	if p.file != nil {
		p.silences.Replace(p.file.Silences)
	}
}

// ticker counts what comes out of a tick.
type ticker struct {
	*Pipeline
	Ticked
	now   int64
	emit  func(graph.Record)
	holds bool // something may hold records
}

func (p *Pipeline) ticker(now int64, emit func(graph.Record)) *ticker {
	active, _ := p.silences.Counts(now)
	return &ticker{Pipeline: p, now: now, emit: emit, holds: active > 0 || p.inhibit.Rules() > 0}
}

func (t *ticker) end() Ticked {
	t.mutes.turn()
	if t.Records() > 0 {
		t.revision++
	}
	return t.Ticked
}

func (t *ticker) summary(s *dedup.Summary) {
	if s.State() == dedup.Resolved {
		t.Resolved++
	} else {
		t.Repeated++
	}
	t.emit(s)
}

func (t *ticker) incident(r *incident.Record) {
	if t.Ticked.Incidents == nil {
		t.Ticked.Incidents = make(map[incident.Trigger]int)
	}
	t.Ticked.Incidents[r.Trigger()]++
	t.emit(r)
}

// gone says that an alert is over, which named an incident.
func (t *ticker) gone(in incident.Ref) {
	if t.incidents != nil && in != (incident.Ref{}) {
		t.incidents.Unname(in)
	}
}

// Next is the earliest tick at which something may come out, and false if nothing will
// without another result.
func (p *Pipeline) Next() (at int64, ok bool) {
	if p.dedup != nil {
		at, ok = p.dedup.Next()
	}
	if p.incidents != nil {
		if also, is := p.incidents.Next(); is && (!ok || also < at) {
			at, ok = also, true
		}
	}
	return at, ok
}

// Counts are the sizes of the state.
type Counts struct {
	ActiveSilences, Silences int
	InhibitRules, Sources    int
	Alerts                   int
	Deduplicates, Groups     bool // the sections are there
	Incidents, Batching      int  // Batching is part of Incidents
}

// Counts returns the sizes of the state at now.
func (p *Pipeline) Counts(now int64) Counts {
	c := Counts{InhibitRules: p.inhibit.Rules(), Sources: p.inhibit.Len()}
	c.ActiveSilences, c.Silences = p.silences.Counts(now)
	if p.dedup != nil {
		c.Deduplicates, c.Alerts = true, p.dedup.Len()
	}
	if p.incidents != nil {
		c.Groups = true
		c.Incidents, c.Batching = p.incidents.Counts()
	}
	return c
}

// Held is how many alerts are active, and how many incidents are open. It is cheap, however
// many silences there are.
func (p *Pipeline) Held() (alerts, incidents int) {
	if p.dedup != nil {
		alerts = p.dedup.Len()
	}
	if p.incidents != nil {
		incidents, _ = p.incidents.Counts()
	}
	return alerts, incidents
}

// Incidents are the open incidents, nil when results are not grouped. What is returned never
// changes.
func (p *Pipeline) Incidents() *incident.View {
	if p.incidents == nil {
		return nil
	}
	return p.incidents.Export()
}
