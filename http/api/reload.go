package api

import "net/http"

var reloadRoutes = []route{{pattern: "/api/v1/reload", endpoints: table{http.MethodPost: mutation("reload:execute", (*Resources).postReload)}}}

// Reloader takes requests for a reload. How it ended is seen in the status, in
// readiness and in the metrics.
type Reloader interface {
	// Request asks for a pass. It never waits: a pass that is already asked for
	// serves both. When it returns, the status shows that a reload is pending.
	Request()
}

func (res *Resources) postReload(w http.ResponseWriter, r *http.Request) {
	res.Reloader.Request()
	discard(r)
	writeJSON(w, http.StatusOK, statusBody{"reload_triggered"})
}
