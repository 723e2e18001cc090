package api

import (
	"fmt"
	"net/http"
)

var incidentRoutes = []route{{pattern: "/api/v1/incidents", endpoints: get("incidents:read", (*Resources).getIncidents)}}

type incidentList struct {
	Count     int        `json:"count"`
	Incidents []struct{} `json:"incidents"`
}

func (*Resources) getIncidents(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, incidentList{Incidents: []struct{}{}})
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
