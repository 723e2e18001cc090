package api

import (
	"net/http"
	"slices"
)

type (
	handler = func(*Resources, http.ResponseWriter, *http.Request)
	table   = map[string]endpoint
)

func get(permission string, h handler) table {
	return table{http.MethodGet: {permission: permission, serve: h}}
}

// mutation is audited.
func mutation(permission string, h handler) endpoint {
	return endpoint{permission: permission, audited: true, serve: h}
}

// disabled answers for a feature that is switched off, so that a client can tell
// it from a path that does not exist.
func disabled(text, hint string) handler {
	return func(_ *Resources, w http.ResponseWriter, _ *http.Request) {
		writeHint(w, http.StatusServiceUnavailable, text, hint)
	}
}

// routes is the endpoint table of the service: one row for each resource.
func (a *API) routes(profiling bool) []route {
	all := slices.Concat(
		a.probeRoutes(), a.metricsRoutes(),
		statusRoutes, ruleRoutes, reloadRoutes, eventRoutes, actorRoutes, correlationRoutes,
		incidentRoutes, riskRoutes, dispositionRoutes, sourceRoutes, fieldRoutes, schemaRoutes,
		tapRoutes, tailRoutes, auditRoutes,
	)
	if profiling {
		all = append(all, a.profileRoutes()...)
	}
	return all
}
