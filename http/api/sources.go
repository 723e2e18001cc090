package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
)

var sourceRoutes = []route{
	{pattern: "/api/v1/sources", endpoints: get("sources:read", (*Resources).getSources, listSources)},
	{pattern: "/api/v1/sources/resolve", endpoints: table{http.MethodPost: mutation("sources:write", (*Resources).postResolve, resolveSources)}},
	{pattern: "/api/v1/sources/resolve/{source_id}", endpoints: table{http.MethodPost: mutation("sources:write", (*Resources).postResolveOne, resolveSource)}},
	{pattern: "/api/v1/sources/cache/{source_id}", endpoints: table{http.MethodDelete: mutation("sources:write", (*Resources).deleteSourceCache, emptySourceCache)}},
}

var (
	listSources = operation{
		id: "listSources", summary: "List the dynamic sources of pipelines",
		answers: []openapi.Answer{replies(http.StatusOK, sourceList{}, "Every source that is declared, in the order of the declarations.")},
	}
	resolveSources = operation{
		id: "resolveSources", summary: "Fetch all dynamic sources, or one, again", asks: true,
		text: "The answer comes before the fetch. A changed value reaches the rules without a reload.",
		body: reads(resolve{}, false, "The source; without a body or without the member, all sources. The Content-Type of the body is ignored."), whole: true,
		answers: []openapi.Answer{resolveAccepted, sourceUnknown, resolvePending},
	}
	resolveSource = operation{
		id: "resolveSource", summary: "Fetch one dynamic source again", path: sourcePath, asks: true,
		text:    "The answer comes before the fetch. A changed value reaches the rules without a reload. A body is ignored.",
		answers: []openapi.Answer{resolveAccepted, sourceUnknown, resolvePending},
	}
	emptySourceCache = operation{
		id: "emptySourceCache", summary: "Forget the cached value of a dynamic source", path: sourcePath, asks: true,
		text:    "Rules keep the values that they were made with. A fetch that fails has no value to fall back on until one has succeeded.",
		answers: []openapi.Answer{replies(http.StatusOK, invalidated{}, "There is no cached value, whether or not there was one, and whether or not there is such a source.")},
	}

	resolveAccepted = replies(http.StatusOK, resolveAnswer{}, "The fetch follows.")
	sourceUnknown   = fails(http.StatusNotFound, "There are no dynamic sources, or none with this id; `error` says which.")
	resolvePending  = replies(http.StatusTooManyRequests, resolveRefusal{}, "An earlier request for all sources has not come to its end, or a fetch of the source is running or waiting.")
)

const (
	sourcePath = "Id of the source."
	noSources  = "no dynamic sources configured"
)

// Sources keeps the values of dynamic sources. *sources.Client is one; a nil one has no
// sources.
type Sources interface {
	// List lists the sources in the order of their declarations.
	List() []sources.Entry
	// Resolve has a source fetched, or all of them when the id is empty. It does not wait for
	// the fetch.
	Resolve(ctx context.Context, id string) (sources.Resolution, error)
	// Invalidate forgets the last value of a source. An id that nobody knows is no error; a
	// value that stays stored is a *sources.StoreError.
	Invalidate(ctx context.Context, id string) error
}

// sourceList is what getSources answers.
type sourceList struct {
	Sources []listedSource `json:"sources"`
}

type listedSource struct {
	SourceID string `json:"source_id"`
	Pipeline string `json:"pipeline" doc:"external: and the file that declares the source"`
	Type     string `json:"type" enum:"File Http Command Nats"`
	Refresh  string `json:"refresh" doc:"Once, Interval(90s), Watch, Push or OnDemand; an interval as it was declared"`
	Required bool   `json:"required"`
}

// resolve is the body of a request for one source.
type resolve struct {
	SourceID string `json:"source_id,omitempty" minlen:"1"`
}

type resolveAnswer struct {
	Status   string `json:"status" enum:"resolve_triggered"`
	SourceID string `json:"source_id,omitempty" doc:"Absent when all sources are fetched"`
}

type resolveRefusal struct {
	Status string `json:"status" enum:"resolve_already_pending"`
}

func (res *Resources) getSources(w http.ResponseWriter, _ *http.Request) {
	list := []listedSource{}
	for _, s := range res.Sources.List() {
		list = append(list, listedSource(s))
	}
	reply.JSON(w, http.StatusOK, sourceList{list})
}

func (res *Resources) postResolve(w http.ResponseWriter, r *http.Request) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	id, err := parseResolve(body)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	res.resolve(w, r, id)
}

// parseResolve accepts a blank body, or an object whose source_id, if it has one, is a
// non-empty string. It returns the id, empty
// for all sources.
func parseResolve(body []byte) (string, error) {
	if strings.TrimSpace(string(body)) == "" {
		return "", nil
	}
	members, err := object(body)
	if err != nil {
		return "", err
	}
	value, ok := members["source_id"]
	if !ok {
		return "", nil
	}
	var text string
	if json.Unmarshal(value, &text) != nil || text == "" {
		return "", errors.New("source_id must be a non-empty string")
	}
	return text, nil
}

func (res *Resources) postResolveOne(w http.ResponseWriter, r *http.Request) {
	res.resolve(w, r, r.PathValue("source_id"))
}

// resolve has a source fetched, or all of them with an empty id.
func (res *Resources) resolve(w http.ResponseWriter, r *http.Request, id string) {
	switch state, err := res.Sources.Resolve(r.Context(), id); {
	case err != nil:
		writeRefusal(w, err)
	case state == sources.None:
		writeError(w, http.StatusNotFound, noSources)
	case state == sources.Unknown:
		writeError(w, http.StatusNotFound, fmt.Sprintf("unknown dynamic source '%s'", id))
	case state == sources.Pending:
		reply.JSON(w, http.StatusTooManyRequests, resolveRefusal{"resolve_already_pending"})
	default:
		reply.JSON(w, http.StatusOK, resolveAnswer{"resolve_triggered", id})
	}
}

type invalidated struct {
	Status   string `json:"status" enum:"invalidated"`
	SourceID string `json:"source_id"`
}

func (res *Resources) deleteSourceCache(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("source_id")
	err := res.Sources.Invalidate(r.Context(), id)
	var stored *sources.StoreError
	switch {
	case errors.As(err, &stored):
		writeHint(w, http.StatusServiceUnavailable, stored.Error(), "A restart would bring the value back. See to the state database (--state-db), and ask again.")
	case err != nil:
		writeRefusal(w, err)
	default:
		reply.JSON(w, http.StatusOK, invalidated{"invalidated", id})
	}
}
