package api

import (
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/graph/alert/bundle"
	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/sigma/ast"
)

func (a *API) openAPIRoutes() []route {
	return []route{{pattern: "/api/v1/openapi.json", endpoints: get("status:read", a.getOpenAPI, operation{
		id: "getOpenAPI", summary: "Describe the API",
		text:    "The OpenAPI document that this is. `sluice config openapi` prints it, too.",
		answers: []openapi.Answer{replies(http.StatusOK, openAPIBody{}, "The document.")},
	})}}
}

// openAPIBody describes the document no further than clients need to know it.
type openAPIBody struct {
	OpenAPI    string         `json:"openapi" doc:"3.1 and a patch version"`
	Info       map[string]any `json:"info"`
	Servers    []any          `json:"servers"`
	Tags       []any          `json:"tags"`
	Paths      map[string]any `json:"paths"`
	Components map[string]any `json:"components"`
}

func (a *API) getOpenAPI(_ *Resources, w http.ResponseWriter, _ *http.Request) {
	body, err := a.document()
	if err != nil {
		a.log.Error("the API cannot be described", "err", err)
		writeError(w, http.StatusInternalServerError, internalError)
		return
	}
	h := w.Header()
	h.Set("Content-Type", typeJSON)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body) // a client that has left gets nothing
}

// Document is the OpenAPI 3.1 document of what an API serves, with the profiles or
// without.
func Document(profiling bool) ([]byte, error) {
	return openapiDocument(new(API).routes(profiling))
}

func openapiDocument(routes []route) ([]byte, error) {
	return openapi.Document(information, operations(routes))
}

var information = openapi.Info{
	Title:   "Sluice",
	Version: "1",
	Description: "Steers and observes a streaming Sigma detection daemon, and sends it events.\n\n" +
		"Every error is a JSON object with the member `error`. An unknown path is answered with 404 `not found`, and another method of a known path with 405 and the header `Allow`. " +
		"A request that HTTP itself does not allow is answered with 400, 417, 431, 501 or 505.\n\n" +
		"A token is needed only where authentication is configured. 503 with the error `starting` is the answer of all but the open operations until the rules are loaded.",
	Package: errorBody{},
	Words: map[reflect.Type][]string{
		reflect.TypeFor[actors.State]():        words(actors.StateRunning, actors.StateRestarting, actors.StateSuspended, actors.StateStopped),
		reflect.TypeFor[mailbox.Kind]():        words(actors.KindStage, actors.KindSink, actors.KindControl),
		reflect.TypeFor[ast.Stage]():           words(ast.StageParse, ast.StageCompile),
		reflect.TypeFor[ast.Window]():          words(ast.WindowSliding, ast.WindowTumbling, ast.WindowSession),
		reflect.TypeFor[reload.Origin]():       words(reload.API, reload.Signal, reload.File),
		reflect.TypeFor[ast.CorrelationType](): words(ast.EventCount, ast.ValueCount, ast.ValueSum, ast.ValueAvg, ast.ValuePercentile, ast.ValueMedian, ast.Temporal, ast.TemporalOrdered),
		reflect.TypeFor[catalog.Kind]():        words(catalog.Detection, catalog.Correlation),
		reflect.TypeFor[bundle.Resolution]():   words(bundle.Resolutions[:]...),
		reflect.TypeFor[bundle.Reason]():       words(bundle.Reasons[:]...),
	},
}

func words[T ~string](all ...T) []string {
	out := make([]string, len(all))
	for i, w := range all {
		out[i] = string(w)
	}
	return out
}

// operations describes every method of every route, those of HEAD included.
func operations(routes []route) []openapi.Operation {
	var all []openapi.Operation
	for _, rt := range routes {
		for _, method := range slices.Sorted(maps.Keys(rt.endpoints)) {
			o := rt.describe(method)
			all = append(all, o)
			if method == http.MethodGet && !rt.stream {
				all = append(all, head(o))
			}
		}
	}
	return all
}

// pathParameter finds the parameter in a pattern, with the expression that it matches.
var pathParameter = regexp.MustCompile(`\{(\w+)(:[^}]*)?\}`)

func (rt route) describe(method string) openapi.Operation {
	e := rt.endpoints[method]
	about := e.operation
	o := openapi.Operation{
		ID: about.id, Method: method, Path: pathParameter.ReplaceAllString(rt.pattern, "{$1}"), Tag: subject(rt.pattern),
		Summary: about.summary, Description: about.text, Permission: e.permission, Audited: e.audited, Request: about.body,
		Parameters: slices.Concat(about.query, about.header),
	}
	if e.permission == "" && !e.open {
		o.Permission = fullGrant
	}
	if e.also != nil {
		o.Also = e.also.permission
	}
	name := pathParameter.FindStringSubmatch(rt.pattern)
	if name != nil {
		s := text()
		s.MinLength = 1
		o.Parameters = slices.Insert(o.Parameters, 0, openapi.Parameter{Name: name[1], In: "path", Description: about.path, Required: true, Schema: s})
	}
	if about.id != "" { // else nothing is known of it, which is an error of the document
		o.Answers = about.all(e, method)
	}
	return o
}

// fullGrant is the permission of endpoints that name none.
const fullGrant = "*:*"

// head is GET without its body.
func head(o openapi.Operation) openapi.Operation {
	o.ID += "Head"
	o.Method = http.MethodHead
	o.Summary += ", without the body"
	answers := slices.Clone(o.Answers)
	for i := range answers {
		answers[i].Content, answers[i].Shared = nil, ""
	}
	o.Answers = answers
	return o
}

// subject is what a route is about: the first part of its path that says so.
func subject(pattern string) string {
	rest := strings.TrimPrefix(strings.TrimPrefix(pattern, "/api/v1"), "/")
	first, _, _ := strings.Cut(rest, "/")
	switch first {
	case "healthz", "readyz":
		return "probes"
	case "debug":
		return "profiles"
	case "openapi.json":
		return "openapi"
	case "v1": // of OTLP
		return "logs"
	}
	return first
}
