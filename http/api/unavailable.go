package api

import "net/http"

// unavailableRoutes are the routes of features that this build does not have. They answer
// as if the feature were switched off, so that a client can tell it from a path that does
// not exist. A feature that is built takes its rows to a file of its own.
var unavailableRoutes = []route{
	{pattern: "/api/v1/incidents/{id}", endpoints: get("incidents:read", groupingDisabled)},
	{pattern: "/api/v1/incidents/{id}/bundle", endpoints: get("incident-bundles:read", (*Resources).getBundle)},
	{pattern: "/api/v1/dispositions", endpoints: table{
		http.MethodGet:  {permission: "dispositions:read", serve: dispositionsDisabled},
		http.MethodPost: mutation("dispositions:write", dispositionsDisabled).and("capture:write", whileCapturing),
	}},
	{pattern: "/api/v1/fields", endpoints: get("fields:read", fieldsDisabled)},
	{pattern: "/api/v1/fields/unknown", endpoints: get("fields:read", fieldsDisabled)},
	{pattern: "/api/v1/fields/missing", endpoints: get("fields:read", fieldsDisabled)},
	{pattern: "/api/v1/fields/observer", endpoints: table{http.MethodDelete: mutation("fields:write", fieldsDisabled)}},
	{pattern: "/api/v1/schemas", endpoints: table{
		http.MethodGet:    {permission: "schemas:read", serve: schemasDisabled},
		http.MethodDelete: mutation("schemas:write", schemasDisabled),
	}},
	{pattern: "/api/v1/schemas/suggestions", endpoints: get("schemas:read", schemasDisabled)},
	{pattern: "/api/v1/tap", stream: true, endpoints: get("tap:read", absent("event tap disabled"))},
	{pattern: "/api/v1/detections/stream", stream: true, endpoints: get("detections:read", absent("detection tail disabled"))},
}

var (
	groupingDisabled     = absent("incident grouping disabled")
	dispositionsDisabled = absent("dispositions disabled")
	fieldsDisabled       = absent("field observation disabled")
	schemasDisabled      = absent("schema observation disabled")
)

// absent answers for a feature that no setting switches on.
func absent(text string) handler {
	return disabled(text, "this version does not have it, and no setting turns it on")
}
