package api

import (
	"net/http"

	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
)

// Health is what the probes tell. It is asked before anything is loaded, and
// never waits.
type Health interface {
	// Ready reports whether the rules and pipelines last asked for are the ones
	// that serve.
	Ready() bool
	// Failing names the actor that has used up its restart budget, if one has.
	Failing() (actor string, failing bool)
}

func (a *API) probeRoutes() []route {
	return []route{
		{pattern: "/healthz", endpoints: table{http.MethodGet: {open: true, early: a.getHealth, operation: probeHealth}}},
		{pattern: "/readyz", endpoints: table{http.MethodGet: {open: true, early: a.getReady, operation: probeReadiness}}},
	}
}

var (
	probeHealth = operation{
		id: "probeHealth", summary: "Tell whether the process lives",
		text: "Answers from the first moment on, while rules load and after a reload that failed.",
		answers: []openapi.Answer{
			replies(http.StatusOK, health{}, "It lives."),
			replies(http.StatusServiceUnavailable, failing{}, "An actor has used up its restarts, and the process is about to end."),
		},
	}
	probeReadiness = operation{
		id: "probeReadiness", summary: "Tell whether the rules that were last asked for serve",
		answers: []openapi.Answer{
			replies(http.StatusOK, ready{}, "They serve."),
			replies(http.StatusServiceUnavailable, notReady{}, "The rules are loading, the daemon is shutting down, or the last reload failed, in which case the previous rules serve."),
		},
	}
)

// What the answers of the probes look like.
type (
	health struct {
		Status string `json:"status" enum:"ok"`
	}
	ready struct {
		Status      string `json:"status" enum:"ready"`
		RulesLoaded bool   `json:"rules_loaded"`
	}
	notReady struct {
		Status      string `json:"status" enum:"not_ready"`
		RulesLoaded bool   `json:"rules_loaded"`
	}
)

type failing struct {
	Status string `json:"status" enum:"failing"`
	Error  string `json:"error"`
	Actor  string `json:"actor" doc:"The actor that has used up its restarts"`
}

func (a *API) getHealth(w http.ResponseWriter, _ *http.Request) {
	if name, dying := a.health.Failing(); dying {
		reply.JSON(w, http.StatusServiceUnavailable, failing{"failing", "actor '" + name + "' has used up its restart budget", name})
		return
	}
	reply.JSON(w, http.StatusOK, statusBody{"ok"})
}

type readiness struct {
	Status      string `json:"status"`
	RulesLoaded bool   `json:"rules_loaded"`
}

func (a *API) getReady(w http.ResponseWriter, _ *http.Request) {
	_, dying := a.health.Failing()
	if dying || a.resources.Load() == nil || !a.health.Ready() { // ready promises that every route serves
		reply.JSON(w, http.StatusServiceUnavailable, readiness{"not_ready", false})
		return
	}
	reply.JSON(w, http.StatusOK, readiness{"ready", true})
}
