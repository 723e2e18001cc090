package api

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// offRoutes are the resources of features that are switched off. They answer
// as the specification says for that case, so that a client can tell a feature
// that is off from a path that does not exist.
func offRoutes() []route {
	return []route{
		{pattern: "/api/v1/incidents", endpoints: get("incidents:read", (*Resources).getIncidents)},
		{pattern: "/api/v1/incidents/{id}", endpoints: get("incidents:read", (*Resources).getIncident)},
		{pattern: "/api/v1/incidents/{id}/bundle", endpoints: get("incident-bundles:read", (*Resources).getBundle)},
		{pattern: "/api/v1/risk", endpoints: get("risk:read", (*Resources).getRisk)},
		{pattern: "/api/v1/dispositions", endpoints: table{
			http.MethodGet:  {permission: "dispositions:read", serve: dispositionsOff},
			http.MethodPost: mutation("dispositions:write", dispositionsOff),
		}},
		{pattern: "/api/v1/sources", endpoints: get("sources:read", (*Resources).getSources)},
		{pattern: "/api/v1/sources/resolve", endpoints: table{http.MethodPost: mutation("sources:write", (*Resources).postResolve)}},
		{pattern: "/api/v1/sources/resolve/{source_id}", endpoints: table{http.MethodPost: mutation("sources:write", (*Resources).postResolveOne)}},
		{pattern: "/api/v1/sources/cache/{source_id}", endpoints: table{http.MethodDelete: mutation("sources:write", (*Resources).deleteSourceCache)}},
		{pattern: "/api/v1/fields", endpoints: get("fields:read", fieldsOff)},
		{pattern: "/api/v1/fields/unknown", endpoints: get("fields:read", fieldsOff)},
		{pattern: "/api/v1/fields/missing", endpoints: get("fields:read", fieldsOff)},
		{pattern: "/api/v1/fields/observer", endpoints: table{http.MethodDelete: mutation("fields:write", fieldsOff)}},
		{pattern: "/api/v1/schemas", endpoints: table{
			http.MethodGet:    {permission: "schemas:read", serve: schemasOff},
			http.MethodDelete: mutation("schemas:write", schemasOff),
		}},
		{pattern: "/api/v1/schemas/suggestions", endpoints: get("schemas:read", schemasOff)},
		{pattern: "/api/v1/tap", stream: true, endpoints: get("tap:read", tapOff)},
		{pattern: "/api/v1/detections/stream", stream: true, endpoints: get("detections:read", tailOff)},
		{pattern: "/api/v1/audit", endpoints: get("audit:read", auditOff)},
	}
}

func dispositionsOff(_ *Resources, w http.ResponseWriter, _ *http.Request) {
	writeHint(w, http.StatusServiceUnavailable, "dispositions disabled", "start with --enable-dispositions or set daemon.dispositions.enabled")
}

func fieldsOff(_ *Resources, w http.ResponseWriter, _ *http.Request) {
	writeHint(w, http.StatusServiceUnavailable, "field observation disabled", "start with --observe-fields")
}

func schemasOff(_ *Resources, w http.ResponseWriter, _ *http.Request) {
	writeHint(w, http.StatusServiceUnavailable, "schema observation disabled", "start with --observe-schemas")
}

func tapOff(_ *Resources, w http.ResponseWriter, _ *http.Request) {
	writeHint(w, http.StatusServiceUnavailable, "event tap disabled", "start with --enable-tap or set daemon.tap.enabled")
}

func tailOff(_ *Resources, w http.ResponseWriter, _ *http.Request) {
	writeHint(w, http.StatusServiceUnavailable, "detection tail disabled", "start with --enable-tail or set daemon.tail.enabled")
}

func auditOff(_ *Resources, w http.ResponseWriter, _ *http.Request) {
	writeHint(w, http.StatusServiceUnavailable, "audit trail disabled", "start with --state-db, and without daemon.api.audit.enabled: false")
}

type incidentList struct {
	Count     int        `json:"count"`
	Incidents []struct{} `json:"incidents"`
}

func (*Resources) getIncidents(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, incidentList{Incidents: []struct{}{}})
}

func (*Resources) getIncident(w http.ResponseWriter, _ *http.Request) {
	writeHint(w, http.StatusServiceUnavailable, "incident grouping disabled", "give --alert-pipeline a file with a group block")
}

// getBundle checks the format first: a wrong one is wrong whatever is
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
	res.getIncident(w, r)
}

const bundleFormats = "format is json (default), markdown or md"

type entityList struct {
	Count    int        `json:"count"`
	Entities []struct{} `json:"entities"`
}

func (*Resources) getRisk(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, entityList{Entities: []struct{}{}})
}

type sourceList struct {
	Sources []struct{} `json:"sources"`
}

func (*Resources) getSources(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, sourceList{[]struct{}{}})
}

func (res *Resources) postResolve(w http.ResponseWriter, r *http.Request) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	if err := checkResolve(body); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	res.postResolveOne(w, r)
}

// checkResolve accepts a blank body, or an object whose source_id, if it has
// one, is a string with something in it.
func checkResolve(body []byte) error {
	if strings.TrimSpace(string(body)) == "" {
		return nil
	}
	members, err := object(body)
	if err != nil {
		return err
	}
	value, ok := members["source_id"]
	if !ok {
		return nil
	}
	var id *string
	if json.Unmarshal(value, &id) != nil || id == nil || *id == "" {
		return errors.New("source_id must be a non-empty string")
	}
	return nil
}

func (*Resources) postResolveOne(w http.ResponseWriter, _ *http.Request) {
	writeError(w, http.StatusNotFound, "no dynamic sources configured")
}

type invalidated struct {
	Status   string `json:"status"`
	SourceID string `json:"source_id"`
}

func (*Resources) deleteSourceCache(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, invalidated{"invalidated", r.PathValue("source_id")})
}
