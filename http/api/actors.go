package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/internal/suggest"
)

var actorRoutes = []route{
	{pattern: "/api/v1/actors", endpoints: get("actors:read", (*Resources).getActors)},
	{pattern: "/api/v1/actors/{name}", endpoints: table{
		http.MethodGet:   {permission: "actors:read", serve: (*Resources).getActor},
		http.MethodPatch: mutation("actors:write", (*Resources).patchActor),
	}},
}

// Actors shows the actors and resizes their mailboxes. All but Detail answer
// without asking the actor. *actors.System is one.
type Actors interface {
	Records() []actors.Record
	Record(name string) (actors.Record, error)
	Detail(ctx context.Context, name string) any
	Resize(name string, capacity int) (actors.Record, error)
}

type actorList struct {
	Count  int             `json:"count"`
	Actors []actors.Record `json:"actors"`
}

type actorDetail struct {
	actors.Record
	Detail any `json:"detail"`
}

type noSuchActor struct {
	Error string `json:"error"`
	Name  string `json:"name"`
	Hint  string `json:"hint,omitempty"` // an actor whose name is near
}

func (res *Resources) getActors(w http.ResponseWriter, _ *http.Request) {
	records := res.Actors.Records()
	writeJSON(w, http.StatusOK, actorList{len(records), present(records)})
}

func (res *Resources) getActor(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	record, err := res.Actors.Record(name)
	if err != nil {
		res.writeActorError(w, name, err)
		return
	}
	writeJSON(w, http.StatusOK, actorDetail{record, res.Actors.Detail(r.Context(), name)})
}

func (res *Resources) patchActor(w http.ResponseWriter, r *http.Request) {
	body, ok := readBody(w, r)
	if !ok {
		return
	}
	capacity, err := parseCapacity(body)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	name := r.PathValue("name")
	record, err := res.Actors.Resize(name, capacity)
	if err != nil {
		res.writeActorError(w, name, err)
		return
	}
	writeJSON(w, http.StatusOK, record)
}

func (res *Resources) writeActorError(w http.ResponseWriter, name string, err error) {
	switch {
	case errors.Is(err, actors.ErrNoActor):
		var known []string
		for _, a := range res.Actors.Records() {
			known = append(known, a.Name)
		}
		writeJSON(w, http.StatusNotFound, noSuchActor{"no such actor", name, suggest.Text(name, known)})
	case errors.Is(err, actors.ErrCapacity):
		writeError(w, http.StatusBadRequest, err.Error())
	default:
		writeError(w, http.StatusInternalServerError, internalError)
	}
}

// parseCapacity reads {"mailbox_capacity": N}.
func parseCapacity(body []byte) (int, error) {
	const member = "mailbox_capacity"
	members, err := object(body)
	if err != nil {
		return 0, err
	}
	for name := range members {
		if name != member {
			return 0, fmt.Errorf("unknown member %q (want %s)", name, member)
		}
	}
	value, ok := members[member]
	if !ok {
		return 0, fmt.Errorf("missing member %s", member)
	}
	var number json.Number
	if value[0] != '"' && json.Unmarshal(value, &number) == nil {
		if n, err := strconv.Atoi(number.String()); err == nil && n >= 1 && n <= actors.MaxCapacity {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%s must be an integer from 1 to %d", member, actors.MaxCapacity)
}
