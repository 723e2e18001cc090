package api

import (
	"net/http"

	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
)

var reloadRoutes = []route{{pattern: "/api/v1/reload", endpoints: table{http.MethodPost: mutation("reload:execute", (*Resources).postReload, requestReload)}}}

var requestReload = operation{
	id: "requestReload", summary: "Ask for a reload",
	text:    "The body is ignored. The reload begins half a second later, and requests that come until then share it; `reload_pending` and `last_reload` of the status say how it ends.",
	answers: []openapi.Answer{replies(http.StatusOK, reloadTriggered{}, "The reload is pending.")},
}

// reloadTriggered is what the answer looks like.
type reloadTriggered struct {
	Status string `json:"status" enum:"reload_triggered"`
}

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
	reply.JSON(w, http.StatusOK, statusBody{"reload_triggered"})
}
