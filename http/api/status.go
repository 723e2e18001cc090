package api

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
	origins "github.com/sluicehq/sluice/sources"
)

var statusRoutes = []route{{pattern: "/api/v1/status", endpoints: get("status:read", (*Resources).getStatus, showStatus)}}

var showStatus = operation{
	id: "getStatus", summary: "Show the totals of the process",
	answers: []openapi.Answer{replies(http.StatusOK, describedStatus{}, "The totals since the start.")},
}

// describedStatus is what the answer of getStatus looks like.
type describedStatus struct {
	Status                  string               `json:"status" enum:"running"`
	DetectionRules          int                  `json:"detection_rules" min:"0"`
	CorrelationRules        int                  `json:"correlation_rules" min:"0"`
	CorrelationStateEntries int                  `json:"correlation_state_entries" min:"0" doc:"Groups that correlations hold"`
	EventsProcessed         int                  `json:"events_processed" min:"0"`
	DetectionMatches        int                  `json:"detection_matches" min:"0"`
	CorrelationMatches      int                  `json:"correlation_matches" min:"0"`
	ParseErrors             int                  `json:"parse_errors" min:"0" doc:"Lines that the input format could not read"`
	UptimeSeconds           float64              `json:"uptime_seconds" min:"0"`
	ReloadPending           bool                 `json:"reload_pending" doc:"A reload was asked for and has not ended"`
	LastReload              *reload.Outcome      `json:"last_reload,omitempty" doc:"How the last reload ended; absent until one has"`
	DynamicSources          *sources.Status      `json:"dynamic_sources,omitempty" doc:"Absent when no source is declared"`
	Inputs                  []origins.Connection `json:"inputs,omitempty" doc:"Kafka inputs; absent without one"`
}

// Status tells the totals of the process, in the order of the answer, without
// asking an actor.
type Status interface {
	Status() []actors.Member
}

func (res *Resources) getStatus(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, http.StatusOK, append(members{{Name: "status", Value: "running"}}, res.Status.Status()...))
}

// members are an object whose members keep their order.
type members []actors.Member

// MarshalJSON encodes the object.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	before := byte('{')
	for _, x := range m {
		b.WriteByte(before)
		if err := enc.Encode(x.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(x.Value); err != nil {
			return nil, err
		}
		before = ','
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
