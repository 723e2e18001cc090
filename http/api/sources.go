package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"

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
		answers: []openapi.Answer{replies(http.StatusOK, sourceList{}, "Nothing: this version has no dynamic sources.")},
	}
	resolveSources = operation{
		id: "resolveSources", summary: "Fetch all dynamic sources, or one, again",
		body: reads(resolve{}, false, "The source; without a body, all sources."), whole: true,
		answers: []openapi.Answer{fails(http.StatusNotFound, "There are no dynamic sources.", noSources)},
	}
	resolveSource = operation{
		id: "resolveSource", summary: "Fetch one dynamic source again", path: sourcePath,
		answers: []openapi.Answer{fails(http.StatusNotFound, "There are no dynamic sources.", noSources)},
	}
	emptySourceCache = operation{
		id: "emptySourceCache", summary: "Forget the cached value of a dynamic source", path: sourcePath,
		answers: []openapi.Answer{replies(http.StatusOK, invalidated{}, "There is no cached value, whether or not there was one.")},
	}
)

const (
	sourcePath = "Id of the source."
	noSources  = "no dynamic sources configured"
)

// resolve is the body of a request for one source.
type resolve struct {
	SourceID string `json:"source_id,omitempty" minlen:"1"`
}

type sourceList struct {
	Sources []struct{} `json:"sources"`
}

func (*Resources) getSources(w http.ResponseWriter, _ *http.Request) {
	reply.JSON(w, http.StatusOK, sourceList{[]struct{}{}})
}

func (res *Resources) postResolve(w http.ResponseWriter, r *http.Request) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	if err := checkResolve(body); err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	res.postResolveOne(w, r)
}

// checkResolve accepts a blank body, or an object whose source_id, if it has
// one, is a non-empty string.
func checkResolve(body []byte) error {
	if strings.TrimSpace(string(body)) == "" {
		return nil
	}
	members, err := object(body)
	if err != nil {
		return err
	}
	value, ok := members["source_id"]
	if !ok {
		return nil
	}
	var id *string
	if json.Unmarshal(value, &id) != nil || id == nil || *id == "" {
		return errors.New("source_id must be a non-empty string")
	}
	return nil
}

func (*Resources) postResolveOne(w http.ResponseWriter, _ *http.Request) {
	writeError(w, http.StatusNotFound, noSources)
}

type invalidated struct {
	Status   string `json:"status" enum:"invalidated"`
	SourceID string `json:"source_id"`
}

func (*Resources) deleteSourceCache(w http.ResponseWriter, r *http.Request) {
	reply.JSON(w, http.StatusOK, invalidated{"invalidated", r.PathValue("source_id")})
}
