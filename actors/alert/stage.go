package alert

import (
	"log/slog"
	"slices"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/graph/alert/silence"
)

// tick is how often timers are looked at.
const tick = time.Second

// joined is how many result sets a run has at most.
const joined = 256

// Options describe the stage. Next and Metrics are required.
type Options struct {
	actors.StageOptions
	File *File // nil: results pass unchanged
	// Rows store the silences that are made over the API; nil keeps them in memory.
	Rows Table
	// Clear deletes the rows.
	Clear bool
	// Kept says that the state goes on in another run: there is a state database.
	Kept    bool
	Next    mailbox.Outlet[*graph.ResultSet]
	Metrics *Metrics
	Log     *slog.Logger // nil: nothing is logged
}

// Stage is the stage: what of it outlives a restart of its actor.
type Stage struct {
	actors.Stage[*graph.ResultSet]
	next    *mailbox.Outbox[*graph.ResultSet]
	log     *slog.Logger
	metrics *Metrics
	kept    bool

	source *File           // nil without
	file   *alert.File     // in force; nil without
	first  *alert.Pipeline // of the first instance of the actor
	made   []*silence.Silence
	ids    graph.DeliveryIDs

	exported uint64 // revision of the last export
	rows     *rows
	clock    clock
	begun    time.Time
	notices  notices
}

// New builds the stage and reads the silences that are stored.
func New(o Options) *Stage {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Stage{
		Stage: actors.NewStage(o.StageOptions, actors.Shape[*graph.ResultSet]{
			Name: string(graph.StageAlert), Size: graph.SizeOfResultSet, Join: joined, Tick: tick,
		}),
		log: o.Log, metrics: o.Metrics, kept: o.Kept, source: o.File, file: o.File.Parsed(), notices: newNotices(),
	}
	s.next = mailbox.NewOutbox(s.Cell(), o.Next)
	s.begun = begin()
	s.rows = newRows(o.Rows, o.Log)
	s.made = s.rows.restore(o.Clear, s.begun.Unix())
	s.first = s.empty()
	s.metrics.hold(s.first.Counts(s.begun.Unix()))
	return s
}

// empty returns a pipeline without state but the silences.
func (s *Stage) empty() *alert.Pipeline {
	p := alert.New(s.file, alert.Options{NewID: s.newID})
	p.ContinueRevision(s.exported)
	for _, x := range s.made {
		p.Silences().Add(x)
	}
	return p
}

// newID makes ids of incidents, for the actor.
func (s *Stage) newID() string { return s.ids.Next().UUID() }

// forget removes silences from those that were made, and their rows.
func (s *Stage) forget(gone []*silence.Silence) {
	if len(gone) == 0 {
		return
	}
	ids := make(map[string]bool, len(gone))
	for _, x := range gone {
		if x.Origin == silence.API {
			ids[x.ID] = true
		}
	}
	if len(ids) == 0 {
		return
	}
	s.made = slices.DeleteFunc(s.made, func(x *silence.Silence) bool { return ids[x.ID] })
	s.rows.forget(ids)
}
