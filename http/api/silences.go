package api

import (
	"bufio"
	"context"
	"errors"
	"iter"
	"net/http"
	"strconv"

	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
)

var silenceRoutes = []route{
	{pattern: "/api/v1/silences", endpoints: table{
		http.MethodGet:  {permission: "silences:read", serve: (*Resources).getSilences, operation: listSilences},
		http.MethodPost: mutation("silences:write", (*Resources).postSilence, addSilence),
	}},
	{pattern: "/api/v1/silences/{id}", endpoints: table{
		http.MethodDelete: mutation("silences:write", (*Resources).deleteSilence, deleteSilence),
	}},
}

const (
	noSuchSilence = "no such silence"
	notStored     = "silence could not be stored"
)

var (
	listSilences = operation{
		id: "listSilences", summary: "List the silences", asks: true,
		text:    "An expired silence is listed for about a second.",
		answers: []openapi.Answer{replies(http.StatusOK, silenceList{}, "Those of the alert pipeline file in its order, then those that were made over the API, the oldest first.")},
	}
	addSilence = operation{
		id: "addSilence", summary: "Make a silence", asks: true, whole: true,
		text: "Results that match all of its matchers are dropped while it is active. With a state database the silence is stored before the answer. " +
			"The route works without an alert pipeline, too: the silence then mutes nothing, which `warning` says, and expires like any other.",
		body: reads(newSilence{}, true, "The silence. The Content-Type of the body is ignored."),
		answers: []openapi.Answer{
			replies(http.StatusCreated, silenceMade{}, "The silence is in force from its start on."),
			fails(http.StatusTooManyRequests, "There are as many silences as `max_silences` allows, or 1000 without an alert pipeline; `error` names the limit."),
			unstored,
		},
	}
	deleteSilence = operation{
		id: "deleteSilence", summary: "Delete a silence", path: "Id of the silence.", asks: true,
		text: "A silence of the alert pipeline file comes back with the next reload.",
		answers: []openapi.Answer{
			replies(http.StatusOK, silenceDeleted{}, "The silence is gone."),
			failsAs(http.StatusNotFound, unknownSilence{}, "There is no silence with this id.", noSuchSilence),
			unstored,
		},
	}
	unstored = fails(http.StatusServiceUnavailable, "The state database refused the change, and nothing has changed.", notStored)
)

// Silences keeps silences. *alert.Client is one.
type Silences interface {
	// Silences lists those of the file in its order, then those of the API, the oldest
	// first. Their states are those at now, in Unix seconds.
	Silences(ctx context.Context) (list []*silence.Silence, now int64, err error)
	// AddSilence makes a silence of a Spec that Compile accepts. It is stored when there is
	// no error. The error may be an *alert.FullError, or wrap alert.ErrNotStored.
	AddSilence(ctx context.Context, s silence.Spec) (alert.Made, error)
	// DeleteSilence reports whether there was one. The error may wrap alert.ErrNotStored.
	DeleteSilence(ctx context.Context, id string) (found bool, err error)
}

// silenceList is what getSilences answers.
type silenceList struct {
	Count    int             `json:"count"`
	Silences []listedSilence `json:"silences"`
}

// listedSilence is what an entry of the list looks like.
type listedSilence struct {
	ID        string          `json:"id"`
	Matchers  []listedMatcher `json:"matchers"`
	StartsAt  string          `json:"starts_at,omitempty" doc:"In UTC; absent for one that is active from the beginning"`
	EndsAt    string          `json:"ends_at,omitempty" doc:"In UTC; absent for one without an end"`
	CreatedBy string          `json:"created_by,omitempty"`
	Comment   string          `json:"comment,omitempty"`
	Origin    string          `json:"origin" enum:"static api" doc:"static for one of the alert pipeline file"`
	State     string          `json:"state" enum:"pending active expired"`
}

type listedMatcher struct {
	Selector string `json:"selector" doc:"rule, level, event.PATH, match.FIELD, enrichment.PATH or correlation.group_key.FIELD"`
	Op       string `json:"op" enum:"= != =~ !~"`
	Value    string `json:"value" doc:"For =~ and !~ a regular expression that has to match the whole text"`
}

// newSilence is what the body of postSilence looks like. Package silence reads it.
type newSilence struct {
	Matchers  []newMatcher `json:"matchers" doc:"All of them have to match; at least one"`
	StartsAt  *string      `json:"starts_at,omitempty" doc:"RFC 3339; absent for now"`
	EndsAt    *string      `json:"ends_at,omitempty" doc:"RFC 3339, later than starts_at; absent for no end"`
	CreatedBy *string      `json:"created_by,omitempty"`
	Comment   *string      `json:"comment,omitempty"`
}

func (newSilence) Closed() {}

type newMatcher struct {
	Selector string  `json:"selector" doc:"rule, level, event.PATH, match.FIELD, enrichment.PATH or correlation.group_key.FIELD"`
	Op       *string `json:"op,omitempty" enum:"= != =~ !~" doc:"= when absent"`
	Value    string  `json:"value" doc:"For =~ and !~ a regular expression that has to match the whole text"`
}

func (newMatcher) Closed() {}

type silenceMade struct {
	Status string `json:"status" enum:"created"`
	ID     string `json:"id"`

	Warning string `json:"warning,omitempty" doc:"Why the silence mutes nothing: there is no alert pipeline, or its end is over. Absent otherwise"`
}

type silenceDeleted struct {
	Status string `json:"status" enum:"deleted"`
	ID     string `json:"id"`
}

type unknownSilence struct {
	Error string `json:"error"`
	ID    string `json:"id"`
}

func (res *Resources) getSilences(w http.ResponseWriter, r *http.Request) {
	list, now, err := res.Silences.Silences(r.Context())
	if err != nil {
		writeRefusal(w, err)
		return
	}
	writeList(w, "silences", len(list), func(yield func(appendTo) bool) {
		for _, s := range list {
			if !yield(func(dst []byte) []byte { return s.AppendJSON(dst, now) }) {
				return
			}
		}
	})
}

func (res *Resources) postSilence(w http.ResponseWriter, r *http.Request) {
	body, ok := readBytes(w, r)
	if !ok {
		return
	}
	spec, err := silence.Parse(body)
	if err == nil {
		_, err = silence.Compile(spec, silence.API, 0)
	}
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	made, err := res.Silences.AddSilence(r.Context(), spec)
	if err != nil {
		writeSilenceError(w, err)
		return
	}
	reply.JSON(w, http.StatusCreated, silenceMade{"created", made.ID, made.Warning})
}

func (res *Resources) deleteSilence(w http.ResponseWriter, r *http.Request) {
	id := r.PathValue("id")
	switch found, err := res.Silences.DeleteSilence(r.Context(), id); {
	case err != nil:
		writeSilenceError(w, err)
	case !found:
		reply.JSON(w, http.StatusNotFound, unknownSilence{noSuchSilence, id})
	default:
		reply.JSON(w, http.StatusOK, silenceDeleted{"deleted", id})
	}
}

func writeSilenceError(w http.ResponseWriter, err error) {
	var full *alert.FullError
	switch {
	case errors.As(err, &full):
		writeError(w, http.StatusTooManyRequests, full.Error())
	case errors.Is(err, alert.ErrNotStored):
		writeHint(w, http.StatusServiceUnavailable, notStored, "The state database refused to write, and nothing has changed; the log has the details.")
	default:
		writeRefusal(w, err)
	}
}

// appendTo appends the JSON of an entry.
type appendTo = func(dst []byte) []byte

// writeList answers with {"count": n, NAME: [...]}, of which entries are made while it is
// sent.
func writeList(w http.ResponseWriter, name string, count int, entries iter.Seq[appendTo]) {
	w.Header().Set("Content-Type", typeJSON)
	out := bufio.NewWriterSize(w, 32<<10)
	_, _ = out.WriteString(`{"count":` + strconv.Itoa(count) + `,"` + name + `":[`) // an error comes back with what follows
	var buf []byte
	comma := false
	for entry := range entries {
		buf = buf[:0]
		if comma {
			buf = append(buf, ',')
		}
		comma = true
		buf = entry(buf)
		if _, err := out.Write(buf); err != nil {
			return // the client has left
		}
	}
	_, _ = out.WriteString("]}\n")
	_ = out.Flush() // a client that has left gets nothing
}
