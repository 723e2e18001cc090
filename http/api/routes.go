package api

import "net/http"

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

// routes is the endpoint table of the service.
func (a *API) routes(profiling bool) []route {
	all := []route{
		{pattern: "/healthz", endpoints: table{http.MethodGet: {open: true, early: a.getHealth}}},
		{pattern: "/readyz", endpoints: table{http.MethodGet: {open: true, early: a.getReady}}},
		{pattern: "/metrics", endpoints: table{http.MethodGet: {permission: "metrics:read", early: a.getMetrics}}},
		{pattern: "/api/v1/status", endpoints: get("status:read", (*Resources).getStatus)},
		{pattern: "/api/v1/rules", endpoints: get("rules:read", (*Resources).getRules)},
		{pattern: "/api/v1/reload", endpoints: table{http.MethodPost: mutation("reload:execute", (*Resources).postReload)}},
		{pattern: "/api/v1/events", endpoints: table{http.MethodPost: {permission: "events:ingest", serve: (*Resources).postEvents}}},
		{pattern: "/api/v1/actors", endpoints: get("actors:read", (*Resources).getActors)},
		{pattern: "/api/v1/actors/{name}", endpoints: table{
			http.MethodGet:   {permission: "actors:read", serve: (*Resources).getActor},
			http.MethodPatch: mutation("actors:write", (*Resources).patchActor),
		}},
		{pattern: "/api/v1/correlations", endpoints: get("correlations:read", (*Resources).getCorrelations)},
		{pattern: "/api/v1/correlations/state", endpoints: get("correlations:read", (*Resources).getCorrelationState)},
	}
	all = append(all, offRoutes()...)
	if profiling {
		all = append(all,
			route{pattern: "/debug/pprof", endpoints: get("", a.getProfile)},
			route{pattern: "/debug/pprof/{profile:.*}", endpoints: get("", a.getProfile)})
	}
	return all
}
