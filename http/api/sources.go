package api

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

var sourceRoutes = []route{
	{pattern: "/api/v1/sources", endpoints: get("sources:read", (*Resources).getSources)},
	{pattern: "/api/v1/sources/resolve", endpoints: table{http.MethodPost: mutation("sources:write", (*Resources).postResolve)}},
	{pattern: "/api/v1/sources/resolve/{source_id}", endpoints: table{http.MethodPost: mutation("sources:write", (*Resources).postResolveOne)}},
	{pattern: "/api/v1/sources/cache/{source_id}", endpoints: table{http.MethodDelete: mutation("sources:write", (*Resources).deleteSourceCache)}},
}

type sourceList struct {
	Sources []struct{} `json:"sources"`
}

func (*Resources) getSources(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, sourceList{[]struct{}{}})
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
	writeError(w, http.StatusNotFound, "no dynamic sources configured")
}

type invalidated struct {
	Status   string `json:"status"`
	SourceID string `json:"source_id"`
}

func (*Resources) deleteSourceCache(w http.ResponseWriter, r *http.Request) {
	writeJSON(w, http.StatusOK, invalidated{"invalidated", r.PathValue("source_id")})
}
