package api

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/pprof"
	"os"
	runtimepprof "runtime/pprof"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/internal/redact"
)

const (
	profileRoot       = "/debug/pprof/"
	maxProfileSeconds = 60
	// profilePermission is the full grant: profiles show what the memory holds.
	profilePermission = "*:*"
)

func (a *API) profileRoutes() []route {
	return []route{
		{pattern: "/debug/pprof", endpoints: get(profilePermission, a.getProfile, listProfiles("listProfiles"))},
		{pattern: profileRoot, endpoints: get(profilePermission, a.getProfile, listProfiles("listProfilesBelow"))},
		{pattern: "/debug/pprof/{profile:.+}", endpoints: get(profilePermission, a.getProfile, showProfile)},
	}
}

var (
	profileAnswers = []openapi.Answer{
		{Status: http.StatusOK, Description: "The profile in the format of pprof, or as text or a page.", Content: []openapi.Content{
			{Type: "application/octet-stream", Body: ""}, {Type: "text/plain; charset=utf-8", Body: ""}, {Type: "text/html; charset=utf-8", Body: ""},
		}},
		fails(http.StatusInternalServerError, "Another profile of this kind is running."),
	}
	showProfile = operation{
		id: "getProfile", summary: "Show one of Go's profiles", path: "Name of the profile, such as `heap`, `goroutine`, `profile` or `trace`.", query: profileQuery,
		text:    "A profile that runs ends when the daemon drains.",
		answers: append([]openapi.Answer{fails(http.StatusNotFound, "No profile has this name.")}, profileAnswers...),
	}
	profileQuery = []openapi.Parameter{
		param("seconds", "How long to watch.", number(nil, 0, maxProfileSeconds)),
		param("debug", "1 or 2 for text.", number(nil, 0, math.MaxInt32)),
		param("gc", "1 to collect garbage first.", number(nil, 0, math.MaxInt32)),
	}
)

// listProfiles describes the page of all profiles, which has two paths.
func listProfiles(id string) operation {
	return operation{id: id, summary: "List Go's profiles", answers: profileAnswers, query: profileQuery}
}

// getProfile serves Go's profiles. One that runs ends with the drain.
func (a *API) getProfile(_ *Resources, w http.ResponseWriter, r *http.Request) {
	given, err := query(r, "seconds", "debug", "gc")
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	for name, text := range given {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			writeError(w, http.StatusBadRequest, fmt.Sprintf("query parameter '%s' must be a non-negative integer", name))
			return
		}
		if name == "seconds" && n > maxProfileSeconds {
			writeError(w, http.StatusBadRequest, fmt.Sprintf("query parameter 'seconds' must be at most %d", maxProfileSeconds))
			return
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(a.draining, cancel)()
	serve := profileHandler(r.PathValue("profile"))
	if serve == nil {
		writeError(w, http.StatusNotFound, "not found")
		return
	}
	jw := &jsonErrors{ResponseWriter: w}
	serve(jw, r.WithContext(ctx))
	jw.finish()
}

// cmdline is the profile of the arguments. Those that are secret are hidden.
func cmdline(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, strings.Join(redact.Args(os.Args), "\x00")) // a client that has left gets nothing
}

// profileHandler returns nil for a profile that does not exist.
func profileHandler(name string) http.HandlerFunc {
	switch name {
	case "":
		return pprof.Index
	case "cmdline":
		return cmdline
	case "profile":
		return pprof.Profile
	case "symbol":
		return pprof.Symbol
	case "trace":
		return pprof.Trace
	}
	if runtimepprof.Lookup(name) == nil {
		return nil
	}
	return pprof.Handler(name).ServeHTTP
}

// jsonErrors turns the plain-text errors of net/http/pprof into those of the
// service.
type jsonErrors struct {
	http.ResponseWriter
	status int
	text   bytes.Buffer
}

func (w *jsonErrors) WriteHeader(status int) {
	if status >= http.StatusBadRequest {
		w.status = status
		return
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *jsonErrors) Write(p []byte) (int, error) {
	if w.status != 0 {
		return w.text.Write(p)
	}
	return w.ResponseWriter.Write(p)
}

func (w *jsonErrors) finish() {
	if w.status == 0 {
		return
	}
	h := w.Header()
	h.Del("Content-Disposition")
	h.Del("X-Go-Pprof")
	writeError(w.ResponseWriter, w.status, strings.TrimSpace(w.text.String()))
}
