package incident

import (
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/ocsf"
)

// Trigger is why an incident is shown.
type Trigger string

// The triggers.
const (
	GroupWait     Trigger = "group_wait"     // its first record
	GroupInterval Trigger = "group_interval" // it has news
	Repeat        Trigger = "repeat"         // it goes on
	Resolved      Trigger = "resolved"       // it has ended
	Snapshot      Trigger = "snapshot"       // somebody asked
)

// Triggers returns the triggers of records.
func Triggers() []Trigger { return []Trigger{GroupWait, GroupInterval, Repeat, Resolved} }

// KindIncident is the kind of records of incidents.
const KindIncident graph.Kind = "incident"

// Record tells of an incident as it was when the record came out. It never changes.
type Record struct {
	*content
	layout  *layout
	trigger Trigger
}

// Trigger is why the record came out.
func (r *Record) Trigger() Trigger { return r.trigger }

// ID is that of the incident.
func (r *Record) ID() string { return r.id }

// Kind implements graph.Record.
func (r *Record) Kind() graph.Kind { return KindIncident }

// NATSSubject is the subject that incidents go to, "" for that of the sink.
func (r *Record) NATSSubject() string { return r.layout.subject }

// AppendNative implements graph.Record.
func (r *Record) AppendNative(dst []byte) []byte {
	return append(r.appendMembers(dst, r.layout, r.trigger), '}')
}

// OCSFIncident implements ocsf.IncidentRecord.
func (r *Record) OCSFIncident() ocsf.Incident {
	in := ocsf.Incident{
		ID: r.id, State: r.trigger.state(), Trigger: string(r.trigger), FirstSeen: r.first, LastSeen: r.last,
		MaxLevel: r.level, ResultCount: r.results, RuleCounts: r.ruleCounts(), GroupBy: r.selected(), Entities: r.entities(r.layout),
	}
	if r.showsRefs(r.layout) {
		in.Refs = r.appendRefs(nil)
	}
	if r.showsLines(r.layout) {
		in.Results = r.appendLines(nil)
	}
	return in
}

func (t Trigger) state() string {
	if t == Resolved {
		return "resolved"
	}
	return "open"
}
