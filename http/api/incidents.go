package api

import (
	"context"
	"net/http"

	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
)

var incidentRoutes = []route{
	{pattern: "/api/v1/incidents", endpoints: get("incidents:read", (*Resources).getIncidents, listIncidents)},
	{pattern: "/api/v1/incidents/{id}", endpoints: get("incidents:read", (*Resources).getIncident, getIncident)},
	{pattern: "/api/v1/incidents/{id}/bundle", endpoints: get("incident-bundles:read", (*Resources).getBundle, getIncidentBundle)},
}

var (
	listIncidents = operation{
		id: "listIncidents", summary: "List the open incidents", asks: true,
		text:    "Those that nobody was told of yet are among them. Without an alert pipeline that groups results the list is empty.",
		answers: []openapi.Answer{replies(http.StatusOK, incidentList{}, "The incidents, the oldest first.")},
	}
	getIncident = operation{
		id: "getIncident", summary: "Show an open incident", path: incidentPath, asks: true,
		answers: []openapi.Answer{replies(http.StatusOK, listedIncident{}, "The incident."), noIncident, off(noGrouping)},
	}
	noIncident = failsAs(http.StatusNotFound, incidentError{}, "There is no open incident with this id.", noSuchIncident)
)

const (
	incidentPath   = "Id of the incident."
	noGrouping     = "incident grouping disabled"
	noSuchIncident = "no such open incident"
)

// Incidents groups results. *alert.Client is one.
type Incidents interface {
	// Incidents are the open ones, which never change any more; nil when results are not
	// grouped.
	Incidents(ctx context.Context) (*incident.View, error)
}

// incidentList is what getIncidents answers.
type incidentList struct {
	Count     int              `json:"count"`
	Incidents []listedIncident `json:"incidents"`
}

// listedIncident is what an entry looks like.
type listedIncident struct {
	ID          string              `json:"incident_id" doc:"16 hexadecimal digits for one that is grouped by values, a UUID for one of the entity graph"`
	State       string              `json:"state" enum:"open"`
	Trigger     string              `json:"trigger" enum:"snapshot"`
	FirstSeen   int64               `json:"first_seen" doc:"In seconds since 1970"`
	LastSeen    int64               `json:"last_seen" doc:"In seconds since 1970"`
	MaxLevel    string              `json:"max_level,omitempty" doc:"Absent when no result had a level"`
	ResultCount int64               `json:"result_count"`
	RuleCounts  map[string]int64    `json:"rule_counts" doc:"Results by the id of their rule, else its title"`
	GroupBy     map[string]any      `json:"group_by,omitempty" doc:"Values by their selectors, null for those that are absent"`
	Entities    map[string][]string `json:"entities,omitempty" doc:"Values by their selectors, of one of the entity graph"`
	Refs        []incidentRef       `json:"refs,omitempty" doc:"The first results, in short"`
	Results     []map[string]any    `json:"results,omitempty" doc:"The first results"`
	SampleMode  string              `json:"sample_mode" enum:"none refs results mixed" doc:"Which of refs and results are held"`
	BundleReady bool                `json:"bundle_ready" doc:"Whether it was reported, so that there is a bundle"`
}

type incidentRef struct {
	Rule  string `json:"rule"`
	Level string `json:"level,omitempty"`
}

// incidentError is an error about one incident.
type incidentError struct {
	Error string `json:"error"`
	Hint  string `json:"hint"`
	ID    string `json:"incident_id"`
}

func (res *Resources) getIncidents(w http.ResponseWriter, r *http.Request) {
	view, err := res.Incidents.Incidents(r.Context())
	if err != nil {
		writeRefusal(w, err)
		return
	}
	writeList(w, "incidents", view.Len(), func(yield func(appendTo) bool) {
		for e := range view.Each {
			if !yield(e.AppendSnapshot) {
				return
			}
		}
	})
}

func (res *Resources) getIncident(w http.ResponseWriter, r *http.Request) {
	e, ok := res.incident(w, r)
	if !ok {
		return
	}
	w.Header().Set("Content-Type", typeJSON)
	_, _ = w.Write(append(e.AppendSnapshot(nil), '\n')) // a client that has left gets nothing
}

var groupingOff = disabled(noGrouping, "start with --alert-pipeline and a file that has the section group")

// incident finds the incident of the path. When it reports false the answer has been
// written.
func (res *Resources) incident(w http.ResponseWriter, r *http.Request) (*incident.Entry, bool) {
	view, err := res.Incidents.Incidents(r.Context())
	if err != nil {
		writeRefusal(w, err)
		return nil, false
	}
	if view == nil {
		groupingOff(res, w, r)
		return nil, false
	}
	id := r.PathValue("id")
	e, ok := view.Find(id)
	if !ok {
		reply.JSON(w, http.StatusNotFound, incidentError{noSuchIncident, "It may have resolved: GET /api/v1/incidents lists those that are open.", id})
	}
	return e, ok
}
