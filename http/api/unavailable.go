package api

import (
	"net/http"

	"github.com/sluicehq/sluice/http/openapi"
)

// unavailableRoutes are the routes of features that this build does not have. They answer
// as if the feature were switched off, so that a client can tell it from a path that does
// not exist. A feature that is built takes its rows to a file of its own.
var unavailableRoutes = []route{
	{pattern: "/api/v1/dispositions", endpoints: table{
		http.MethodGet:  {permission: "dispositions:read", serve: absent(noDispositions), operation: absentOperation("getScorecard", "Show how often each rule was right", noDispositions)},
		http.MethodPost: mutation("dispositions:write", absent(noDispositions), absentOperation("addDispositions", "Hand in the verdicts of analysts", noDispositions)).and("capture:write", whileCapturing),
	}},
	{pattern: "/api/v1/fields", endpoints: get("fields:read", absent(noFields), absentOperation("getFields", "Compare the fields of events and of rules", noFields))},
	{pattern: "/api/v1/fields/unknown", endpoints: get("fields:read", absent(noFields), absentOperation("listUnknownFields", "List the fields of events that no rule looks at", noFields))},
	{pattern: "/api/v1/fields/missing", endpoints: get("fields:read", absent(noFields), absentOperation("listMissingFields", "List the fields of rules that no event has", noFields))},
	{pattern: "/api/v1/fields/observer", endpoints: table{
		http.MethodDelete: mutation("fields:write", absent(noFields), absentOperation("resetFields", "Forget the observed fields", noFields)),
	}},
	{pattern: "/api/v1/schemas", endpoints: table{
		http.MethodGet:    {permission: "schemas:read", serve: absent(noSchemas), operation: absentOperation("getSchemas", "Count the kinds of events", noSchemas)},
		http.MethodDelete: mutation("schemas:write", absent(noSchemas), absentOperation("resetSchemas", "Forget the observed kinds of events", noSchemas)),
	}},
	{pattern: "/api/v1/schemas/suggestions", endpoints: get("schemas:read", absent(noSchemas), absentOperation("suggestSchemas", "Propose signatures for unknown kinds of events", noSchemas))},
	{pattern: "/api/v1/tap", stream: true, endpoints: get("tap:read", absent(noTap), absentOperation("tap", "Watch events", noTap))},
	{pattern: "/api/v1/detections/stream", stream: true, endpoints: get("detections:read", absent(noTail), absentOperation("tail", "Watch results", noTail))},
}

const (
	noDispositions = "dispositions disabled"
	noFields       = "field observation disabled"
	noSchemas      = "schema observation disabled"
	noTap          = "event tap disabled"
	noTail         = "detection tail disabled"
)

// absent answers for a feature that no setting switches on.
func absent(text string) handler {
	return disabled(text, "this version does not have it, and no setting turns it on")
}

// absentOperation describes an endpoint that answers with absent.
func absentOperation(id, summary, text string) operation {
	return operation{id: id, summary: summary, text: "This version does not have the feature.", answers: []openapi.Answer{off(text)}}
}
