package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/actors/dispatch"
	"github.com/sluicehq/sluice/actors/enrich"
	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/actors/observe"
	"github.com/sluicehq/sluice/actors/parse"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/actors/risk"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
	"github.com/sluicehq/sluice/internal/suggest"
)

var actorRoutes = []route{
	{pattern: "/api/v1/actors", endpoints: get("actors:read", (*Resources).getActors, listActors)},
	{pattern: "/api/v1/actors/{name}", endpoints: table{
		http.MethodGet:   {permission: "actors:read", serve: (*Resources).getActor, operation: showActor},
		http.MethodPatch: mutation("actors:write", (*Resources).patchActor, resizeActor),
	}},
}

var (
	listActors = operation{
		id: "listActors", summary: "List the actors with their mailboxes",
		text:    "Every stage, every sink, the dead-letter queue and what stands beside them. No actor is asked, so one that is stuck is listed, too.",
		answers: []openapi.Answer{replies(http.StatusOK, actorList{}, "The actors: stages in the order of the dataflow, sinks in that of the configuration, the others by name.")},
	}
	showActor = operation{
		id: "getActor", summary: "Show one actor", path: actorPath,
		answers: []openapi.Answer{
			replies(http.StatusOK, describedActor{}, "The actor, with what only this actor tells."),
			failsAs(http.StatusNotFound, noSuchActor{}, "No actor has this name.", unknownActor),
		},
	}
	resizeActor = operation{
		id: "resizeActor", summary: "Change the capacity of a mailbox", path: actorPath,
		text: "A larger capacity wakes senders at once. A smaller one drops nothing: the depth stays above it until enough is worked off. The change holds until the next start.",
		body: reads(resize{}, true, "The new capacity."), whole: true,
		answers: []openapi.Answer{
			replies(http.StatusOK, actors.Record{}, "The actor with its new capacity."),
			failsAs(http.StatusNotFound, noSuchActor{}, "No actor has this name.", unknownActor),
		},
	}
)

const (
	actorPath    = "Name of the actor, such as `evaluate` or `sink:stdout`."
	unknownActor = "no such actor"
)

// describedActor is what actorDetail looks like.
type describedActor struct {
	actors.Record
	Detail *actorMembers `json:"detail" doc:"The members that only this actor has; null when it does not answer within a second"`
}

// actorMembers is the detail of any actor.
type actorMembers struct{}

// OneOf lists the details of all actors.
func (actorMembers) OneOf() []any {
	return []any{
		parse.Detail{},
		observe.Detail{},
		evaluate.Detail{},
		correlate.Detail{},
		enrich.Detail{},
		risk.Detail{},
		alert.Detail{},
		dispatch.Detail{},
		sink.Detail{},
		sink.LinesDetail{},
		reload.Detail{},
		sources.Detail{},
	}
}

// resize is the body of a request for another capacity.
type resize struct {
	MailboxCapacity int `json:"mailbox_capacity" min:"1" max:"1000000"`
}

// Closed says that further members are refused.
func (resize) Closed() {}

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
	reply.JSON(w, http.StatusOK, actorList{len(records), present(records)})
}

func (res *Resources) getActor(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	record, err := res.Actors.Record(name)
	if err != nil {
		res.writeActorError(w, name, err)
		return
	}
	reply.JSON(w, http.StatusOK, actorDetail{record, res.Actors.Detail(r.Context(), name)})
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
	reply.JSON(w, http.StatusOK, record)
}

func (res *Resources) writeActorError(w http.ResponseWriter, name string, err error) {
	switch {
	case errors.Is(err, actors.ErrNoActor):
		var known []string
		for _, a := range res.Actors.Records() {
			known = append(known, a.Name)
		}
		reply.JSON(w, http.StatusNotFound, noSuchActor{unknownActor, name, suggest.Text(name, known)})
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
	// 532.0 is an integer, too.
	var n float64
	if json.Unmarshal(value, &n) == nil && n >= 1 && n <= actors.MaxCapacity && n == math.Trunc(n) {
		return int(n), nil
	}
	return 0, fmt.Errorf("%s must be an integer from 1 to %d", member, actors.MaxCapacity)
}
