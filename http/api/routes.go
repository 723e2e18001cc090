package api

import (
	"context"
	"net/http"
	"slices"

	"github.com/sluicehq/sluice/otlp/ingest"
)

type (
	handler = func(*Resources, http.ResponseWriter, *http.Request)
	table   = map[string]endpoint
)

func get(permission string, h handler, o operation) table {
	return table{http.MethodGet: {permission: permission, serve: h, operation: o}}
}

// mutation is audited.
func mutation(permission string, h handler, o operation) endpoint {
	return endpoint{permission: permission, audited: true, serve: h, operation: o}
}

// disabled answers for a feature that is switched off, so that a client can tell
// it from a path that does not exist.
func disabled(text, hint string) handler {
	return func(_ *Resources, w http.ResponseWriter, _ *http.Request) {
		writeHint(w, http.StatusServiceUnavailable, text, hint)
	}
}

// Logs takes log records that clients send over OTLP. *ingest.Intake is one, and its
// package says which errors mean what.
type Logs interface {
	Post(ctx context.Context, p ingest.Post) (ingest.Outcome, error)
}

// Resources is what the routes speak to once the daemon has loaded. Status,
// Rules, Catalog, Reloader, Actors, Correlations, Silences and Incidents are always there. A nil Ingest is an
// input other than http, a nil LogLevel a log that nobody can change.
type Resources struct {
	Status       Status
	Rules        Rules
	Catalog      RuleCatalog
	LogLevel     LogLevel
	Reloader     Reloader
	Actors       Actors
	Correlations Correlations
	Silences     Silences
	Incidents    Incidents
	Sources      Sources
	Ingest       Ingest
	// Logs is there in builds with OTLP.
	Logs Logs
	// Audit is nil without an audit trail.
	Audit Audit
	// MaxIngestBody is the bound Ingest has for a body, which its 413 shows.
	MaxIngestBody int64
}

// routes is the endpoint table of the service: one row for each resource.
func (a *API) routes(profiling bool) []route {
	all := slices.Concat(
		a.probeRoutes(), a.metricsRoutes(), a.openAPIRoutes(),
		statusRoutes, ruleRoutes, reloadRoutes, eventRoutes, logRoutes, actorRoutes, correlationRoutes,
		silenceRoutes, incidentRoutes, riskRoutes, sourceRoutes, auditRoutes, ruleListRoutes, logLevelRoutes, unavailableRoutes,
	)
	if profiling {
		all = append(all, a.profileRoutes()...)
	}
	return all
}
