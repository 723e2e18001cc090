package api

import (
	"fmt"
	"net/http"

	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
)

var incidentRoutes = []route{{pattern: "/api/v1/incidents", endpoints: get("incidents:read", (*Resources).getIncidents, listIncidents)}}

var (
	listIncidents = operation{
		id: "listIncidents", summary: "List the open incidents",
		answers: []openapi.Answer{replies(http.StatusOK, incidentList{}, "Nothing: this version does not group results.")},
	}
	getIncident = operation{
		id: "getIncident", summary: "Show an open incident", path: incidentPath,
		answers: []openapi.Answer{off(noGrouping)},
	}
	getIncidentBundle = operation{
		id: "getIncidentBundle", summary: "Hand over an incident with its rules and its risk", path: incidentPath,
		query: []openapi.Parameter{param("format", "Form of the bundle.", word("json", "json", "markdown", "md"))},
		answers: []openapi.Answer{
			fails(http.StatusBadRequest, "The format is not known; it is looked at before anything else."),
			off(noGrouping),
		},
	}
)

const (
	incidentPath = "Id of the incident."
	noGrouping   = "incident grouping disabled"
)

type incidentList struct {
	Count     int        `json:"count"`
	Incidents []struct{} `json:"incidents"`
}

func (*Resources) getIncidents(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, http.StatusOK, incidentList{Incidents: []struct{}{}})
}

const bundleFormats = "format is json (default), markdown or md"

// getBundle checks the format first: a wrong format is an error whatever is
// configured.
func (res *Resources) getBundle(w http.ResponseWriter, r *http.Request) {
	given, err := query(r, "format")
	if err != nil {
		writeHint(w, http.StatusBadRequest, err.Error(), bundleFormats)
		return
	}
	if format, ok := given["format"]; ok && format != "json" && format != "markdown" && format != "md" {
		writeHint(w, http.StatusBadRequest, fmt.Sprintf("unknown bundle format '%s'", format), bundleFormats)
		return
	}
	groupingDisabled(res, w, r)
}
