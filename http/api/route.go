package api

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Endpoint is one method of one route, as permissions and the audit trail know
// it.
type Endpoint struct {
	Method  string // the first method for HEAD; empty for methods a route does not have
	Pattern string // with placeholders, never the concrete path
	// Permission is what a caller needs; empty means the full grant.
	Permission string
	// Also is a second permission that a caller needs, looked at behind the first; empty
	// for none. API.Endpoints names it also where it depends on a feature that is off.
	Also string
	// Open endpoints need no permission at all.
	Open bool
	// Audited endpoints are recorded, whatever their outcome.
	Audited bool
}

// route is a path and what each of its methods does.
type route struct {
	pattern   string
	endpoints map[string]endpoint
	stream    bool // no HEAD: a stream without its body is nothing
}

// endpoint answers with early, which needs no resources and serves while rules
// load, or with serve.
type endpoint struct {
	permission    string
	also          *condition // a second permission; nil for none
	open, audited bool
	operation     operation // what the OpenAPI document tells of it
	early         http.HandlerFunc
	serve         func(*Resources, http.ResponseWriter, *http.Request)
}

// methods is a route ready to serve: one handler per method. A request is
// authorized first, then refused while rules load, then recorded, then served.
type methods struct {
	pattern string
	byName  map[string]http.Handler
	other   http.Handler
}

func (m *methods) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h, ok := m.byName[r.Method]; ok {
		h.ServeHTTP(w, r)
		return
	}
	m.other.ServeHTTP(w, r)
}

func (rt route) build(a *API, o Options) *methods {
	protect := o.Protect
	if protect == nil {
		protect = func(_ Endpoint, next http.Handler) http.Handler { return next }
	}
	m := &methods{pattern: rt.pattern, byName: make(map[string]http.Handler)}
	for method, e := range rt.endpoints {
		info := e.info(method, rt.pattern)
		if e.also != nil && !e.also.holds(o) {
			info.Also = ""
		}
		h := e.handler(a)
		if e.audited && o.Audit != nil {
			h = o.Audit(info, h)
		}
		if e.early == nil {
			h = a.whenLoaded(h)
		}
		m.byName[method] = protect(info, h)
	}
	if get, ok := m.byName[http.MethodGet]; ok && !rt.stream {
		m.byName[http.MethodHead] = get
	}
	allow := strings.Join(slices.Sorted(maps.Keys(m.byName)), ", ")
	m.other = protect(Endpoint{Pattern: rt.pattern}, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Allow", allow)
		hint := ""
		if rt.pattern == eventRoutes[0].pattern {
			hint = eventsHint
		}
		writeHint(w, http.StatusMethodNotAllowed, "method not allowed", hint)
	}))
	return m
}

func (e endpoint) handler(a *API) http.Handler {
	if e.early != nil {
		return e.early
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.serve(a.resources.Load(), w, r)
	})
}

// whenLoaded answers 503 until Mount, then hands requests to next.
func (a *API) whenLoaded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if a.resources.Load() == nil {
			writeHint(w, http.StatusServiceUnavailable, "starting", "rules are still loading; GET /readyz turns 200 when they are")
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Endpoints lists every method of every route, sorted by pattern and method,
// HEAD and the profiles left out.
func (a *API) Endpoints() []Endpoint {
	var all []Endpoint
	for _, rt := range a.routes(false) {
		for method, e := range rt.endpoints {
			all = append(all, e.info(method, rt.pattern))
		}
	}
	slices.SortFunc(all, func(x, y Endpoint) int {
		if c := strings.Compare(x.Pattern, y.Pattern); c != 0 {
			return c
		}
		return strings.Compare(x.Method, y.Method)
	})
	return all
}
