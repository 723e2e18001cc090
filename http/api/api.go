package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/mux"
	"github.com/prometheus/client_golang/prometheus"
)

// Options is what an API needs before anything is loaded.
type Options struct {
	Log     *slog.Logger
	Health  Health
	Metrics prometheus.Gatherer
	// Profiling mounts Go's profiles below /debug/pprof.
	Profiling bool
	// Protect wraps an endpoint in the permission check. Nil leaves every route
	// open.
	Protect func(Endpoint, http.Handler) http.Handler
	// Caller names the token of a request, for the log of requests. Nil knows none.
	Caller func(*http.Request) string
	// Capture says that dispositions have events written to disk, which takes a
	// permission of its own.
	Capture bool
	// Audit wraps the endpoints whose use is recorded. Nil records nothing.
	Audit func(Endpoint, http.Handler) http.Handler
}

// API is the handler of all routes. Its methods may be called at any time and
// from any goroutine.
type API struct {
	log       *slog.Logger
	health    Health
	metrics   prometheus.Gatherer
	caller    func(*http.Request) string
	router    *mux.Router
	resources atomic.Pointer[Resources]
	document  func() ([]byte, error) // of what it serves, made when it is first asked for

	draining context.Context
	drain    context.CancelFunc
}

// New builds the API. It answers probes and metrics at once.
func New(o Options) *API {
	a := &API{log: o.Log, health: o.Health, metrics: o.Metrics, caller: o.Caller}
	a.document = sync.OnceValues(func() ([]byte, error) { return Document(o.Profiling) })
	a.draining, a.drain = context.WithCancel(context.Background())
	a.router = mux.NewRouter().SkipClean(true).UseEncodedPath()
	for _, r := range a.routes(o.Profiling) {
		a.router.Handle(r.pattern, r.build(a, o))
	}
	return a
}

// Mount makes every route serve from now on.
func (a *API) Mount(r Resources) { a.resources.Store(&r) }

// Drain ends running profiles and streams, which do not end by themselves.
func (a *API) Drain() { a.drain() }

// ServeHTTP matches the path as it was sent, without cleaning or redirects.
func (a *API) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	w := &recorder{ResponseWriter: rw}
	begin := time.Now()
	defer func() {
		a.recover(w, r, recover())
		a.trace(w, r, begin)
	}()
	if strings.HasPrefix(r.URL.Path, "/api/v1/") {
		h := w.Header()
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cache-Control", "no-store")
	}
	var match mux.RouteMatch
	if !a.router.Match(r, &match) {
		hint := ""
		if meant(r) {
			hint = eventsHint
		}
		writeHint(w, http.StatusNotFound, "not found", hint)
		return
	}
	for name, encoded := range match.Vars {
		value, err := url.PathUnescape(encoded)
		if err != nil {
			writeError(w, http.StatusBadRequest, "malformed path")
			return
		}
		r.SetPathValue(name, value)
	}
	m := match.Handler.(*methods)
	r.Pattern = m.pattern
	m.ServeHTTP(w, r)
}

// trace logs a request that has ended.
func (a *API) trace(w *recorder, r *http.Request, begin time.Time) {
	if !a.log.Enabled(r.Context(), slog.LevelDebug) {
		return
	}
	attrs := []any{"method", r.Method, "route", r.Pattern, "status", w.status, "duration", time.Since(begin)}
	if a.caller != nil && a.caller(r) != "" {
		attrs = append(attrs, "token", a.caller(r))
	}
	a.log.Debug("request", attrs...)
}

// recover turns a panic into a 500. An answer that has begun cannot be taken
// back, so its connection is cut instead.
func (a *API) recover(w *recorder, r *http.Request, cause any) {
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler { //nolint:errorlint // net/http compares panics by identity
		panic(cause)
	}
	a.log.Error("request panicked", "method", r.Method, "route", r.Pattern, "panic", cause, "stack", string(debug.Stack()))
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	writeError(w, http.StatusInternalServerError, internalError)
}

// recorder remembers the status of an answer.
type recorder struct {
	http.ResponseWriter
	status int
}

func (w *recorder) WriteHeader(status int) {
	if w.status == 0 && status >= http.StatusOK {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *recorder) Write(p []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(p)
}

// FlushError records the header that flushing sends.
func (w *recorder) FlushError() error {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap gives http.ResponseController the writer of the connection.
func (w *recorder) Unwrap() http.ResponseWriter { return w.ResponseWriter }
