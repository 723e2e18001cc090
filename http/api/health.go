package api

import "net/http"

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
		{pattern: "/healthz", endpoints: table{http.MethodGet: {open: true, early: a.getHealth}}},
		{pattern: "/readyz", endpoints: table{http.MethodGet: {open: true, early: a.getReady}}},
	}
}

type failing struct {
	Status string `json:"status"`
	Error  string `json:"error"`
	Actor  string `json:"actor"`
}

func (a *API) getHealth(w http.ResponseWriter, _ *http.Request) {
	if name, dying := a.health.Failing(); dying {
		writeJSON(w, http.StatusServiceUnavailable, failing{"failing", "actor '" + name + "' has used up its restart budget", name})
		return
	}
	writeJSON(w, http.StatusOK, statusBody{"ok"})
}

type readiness struct {
	Status      string `json:"status"`
	RulesLoaded bool   `json:"rules_loaded"`
}

func (a *API) getReady(w http.ResponseWriter, _ *http.Request) {
	_, dying := a.health.Failing()
	if dying || a.resources.Load() == nil || !a.health.Ready() { // ready promises that every route serves
		writeJSON(w, http.StatusServiceUnavailable, readiness{"not_ready", false})
		return
	}
	writeJSON(w, http.StatusOK, readiness{"ready", true})
}
