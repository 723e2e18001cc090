package api

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/graph/alert/bundle"
	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
)

var getIncidentBundle = operation{
	id: "getIncidentBundle", summary: "Hand over an incident with its rules and its risk", path: incidentPath, asks: true,
	text:  "What the rules say is what those say that serve now. Incident, rules and risk are read one after the other.",
	query: []openapi.Parameter{param("format", "Form of the bundle.", word("json", "json", "markdown", "md"))},
	answers: []openapi.Answer{
		{
			Status: http.StatusOK, Description: "The bundle.",
			Content: []openapi.Content{{Type: typeJSON, Body: describedBundle{}}, {Type: typeMarkdown}},
		},
		fails(http.StatusBadRequest, "The format is not known; it is looked at before anything else."),
		noIncident,
		failsAs(http.StatusConflict, incidentError{}, "Nobody was told of the incident yet.", stillBatching),
		off(noGrouping),
	},
}

const (
	stillBatching = "incident is still batching"
	bundleFormats = "format is json (default), markdown or md"
	typeMarkdown  = "text/markdown; charset=utf-8"
)

// describedBundle is what a bundle.Bundle looks like.
type describedBundle struct {
	bundle.Bundle
	Incident listedIncident `json:"incident"`
}

// getBundle checks the format first: a wrong format is an error whatever is
// configured.
func (res *Resources) getBundle(w http.ResponseWriter, r *http.Request) {
	given, err := query(r, "format")
	if err != nil {
		writeHint(w, http.StatusBadRequest, err.Error(), bundleFormats)
		return
	}
	format, ok := given["format"]
	if ok && format != "json" && format != "markdown" && format != "md" {
		writeHint(w, http.StatusBadRequest, fmt.Sprintf("unknown bundle format '%s'", format), bundleFormats)
		return
	}
	e, found := res.incident(w, r)
	if !found {
		return
	}
	if !e.Ready() {
		reply.JSON(w, http.StatusConflict, incidentError{stillBatching, "It is reported when group_wait is over; try again then.", e.ID()})
		return
	}
	b, err := bundle.New(e.AppendSnapshot(nil), res.Catalog.Catalog(), nil, time.Now().Unix())
	if err != nil {
		writeError(w, http.StatusInternalServerError, internalError)
		return
	}
	body, contentType := b.Markdown(), typeMarkdown
	if format == "" || format == "json" {
		contentType = typeJSON
		if body, err = b.JSON(); err != nil {
			writeError(w, http.StatusInternalServerError, internalError)
			return
		}
	}
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that has left gets nothing
}
