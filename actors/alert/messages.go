package alert

import (
	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/alert/silence"
)

// listSilences asks for the silences. The reply is silencesListed.
type listSilences struct{}

// silencesListed are those of the file in its order, then those of the API.
type silencesListed struct {
	all []*silence.Silence
	now int64
}

// checkCapacity asks whether another silence may be made. The reply is capacityFound, or a *FullError.
type checkCapacity struct{}

// capacityFound gives the time at which the silence is made.
type capacityFound struct {
	now  int64
	idle bool // there is no pipeline that silences could mute anything in
}

// addSilence puts a silence in force, unless its claim is taken. The reply is silenceAdded,
// or a *FullError.
type addSilence struct {
	silence *silence.Silence
	claim   *claim
}

type silenceAdded struct{}

// findSilence looks for a silence. The reply is silenceFound.
type findSilence struct{ id string }

// silenceFound has the silence, nil if there is none.
type silenceFound struct{ silence *silence.Silence }

// removeSilence removes a silence, unless its claim is taken. The reply is silenceRemoved.
type removeSilence struct {
	id    string
	claim *claim
}

// silenceRemoved reports whether it was there.
type silenceRemoved bool

// listIncidents asks for the open incidents. The reply is incidentsListed.
type listIncidents struct{}

// incidentsListed has the incidents, nil when results are not grouped.
type incidentsListed struct{ view *incident.View }

// configure goes on with another file from the next result on. The reply is configured.
type configure struct{ file *alert.File }

// renew applies the silences of the file again. The reply is configured.
type renew struct{}

type configured struct{}
