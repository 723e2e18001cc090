package api

import "net/http"

var reloadRoutes = []route{{pattern: "/api/v1/reload", endpoints: table{http.MethodPost: mutation("reload:execute", (*Resources).postReload)}}}

// Reloader takes reload triggers. How a pass ended is seen in readiness and in
// the metrics.
type Reloader interface {
	// Trigger asks for a pass and says why. It never waits: a pass that is
	// already asked for serves both.
	Trigger(reason string)
}

func (res *Resources) postReload(w http.ResponseWriter, r *http.Request) {
	res.Reloader.Trigger("api")
	discard(r)
	writeJSON(w, http.StatusOK, statusBody{"reload_triggered"})
}
