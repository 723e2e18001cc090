package api

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/ndjson"
)

var eventRoutes = []route{{pattern: "/api/v1/events", endpoints: table{
	http.MethodPost: {permission: "events:ingest", serve: (*Resources).postEvents, operation: sendEvents},
}}}

var sendEvents = operation{
	id: "sendEvents", summary: "Send events",
	text: "Takes events where the daemon was started with `--input http`. Lines that were taken before an error stay taken: `accepted` counts them.",
	query: []openapi.Parameter{
		param("commit", "Whether to answer only when every line has come to its end, for which it waits up to 30 seconds.", boolean(false)),
	},
	header: []openapi.Parameter{{
		Name: "Content-Encoding", In: "header", Description: "How the body is compressed, in any letter case. An empty value is as good as none.", Schema: word(nil, "identity", "gzip", ""),
	}},
	body: &openapi.Request{
		Description: "A body of JSON holds values on any lines, and an array stands for its elements. Any other body holds one event per line, in the input format of the daemon; bodies of multipart, " +
			"image, audio and video types, and of binary formats such as application/x-protobuf, are refused. A line or a value may have 1 MiB, a body what daemon.input.http.max_body_bytes says, after inflation.",
		Content: []openapi.Content{{Type: "application/x-ndjson"}, {Type: "text/plain"}, {Type: typeJSON}}, // any bytes
	},
	answers: []openapi.Answer{
		with(replies(http.StatusOK, accepted{}, "All lines were taken."), undecodedHeader, "With commit, how many lines the input format could not read; absent when it is none.", number(nil, 1, math.MaxInt64)),
		failsAs(http.StatusBadRequest, refusedBody{}, "The body cannot be read or inflated, or commit is neither true nor false or is given more than once."),
		fails(http.StatusNotFound, "The input is not http.", ingestionNotOn),
		failsAs(http.StatusRequestTimeout, refusedBody{}, "The body did not go on for a minute."),
		failsAs(http.StatusRequestEntityTooLarge, refusedBody{}, "A line, a value or the body is too large; `hint` says where to go on.", lineTooLong, bodyTooLarge),
		failsAs(http.StatusUnsupportedMediaType, refusedBody{}, "The body is compressed in a way that no header says, or is no text in UTF-8."),
		fails(http.StatusUnsupportedMediaType, "The content type holds no events, or the content encoding is not known."),
		failsAs(http.StatusServiceUnavailable, refusedBody{}, "The daemon is shutting down, or not all lines have ended within 30 seconds; they go on.", channelClosed, commitLate),
	},
}

// Ingest takes events that clients send in request bodies. *ndjson.Intake is
// one, and its package says which errors mean what.
type Ingest interface {
	Ingest(ctx context.Context, body io.Reader, o ndjson.Options) (accepted, undecoded int, err error)
}

// undecodedHeader tells a client that has waited for its lines how many of them the
// input format could not read. The body says what was admitted, whatever became of it.
const undecodedHeader = "Sluice-Undecoded-Lines"

const (
	bodyTooLarge    = "request body exceeds maximum size"
	lineTooLong     = "line exceeds maximum size"
	channelClosed   = "event channel closed"
	commitLate      = "commit deadline passed"
	commitLateHint  = "the lines were admitted and go on; a sink may be slow or down, see svc_sink_queue_depth"
	ingestionNotOn  = "event ingestion not enabled (start with --input http)"
	badCommit       = "query parameter 'commit' must be true or false"
	unknownEncoding = "unsupported content-encoding: "
	gzipHint        = "add the header Content-Encoding: gzip, and keep the content type of the events"
	gzipOnceHint    = "compress the events once: the client compresses what is compressed already"
)

// eventsHint is for clients that have missed the route.
const eventsHint = "events go to POST /api/v1/events"

// meant reports whether a request that no route takes was probably meant for that of
// events.
func meant(r *http.Request) bool {
	return strings.Contains(strings.ToLower(r.URL.Path), "event") || r.Method == http.MethodPost && r.URL.Path == "/"
}

type accepted struct {
	Accepted int `json:"accepted" min:"0" doc:"Lines, or values of a body of JSON, that were taken, whatever becomes of them"`
}

// refusedBody carries what was accepted before, so that the client knows where
// to go on.
type refusedBody struct {
	Error    string `json:"error"`
	MaxBytes int64  `json:"max_bytes,omitempty" doc:"What was exceeded"`
	Accepted int    `json:"accepted" min:"0" doc:"Lines, or values of a body of JSON, that were taken and stay taken"`
	Hint     string `json:"hint,omitempty" doc:"What to do"`
}

func (res *Resources) postEvents(w http.ResponseWriter, r *http.Request) {
	if res.Ingest == nil {
		writeError(w, http.StatusNotFound, ingestionNotOn)
		return
	}
	var o ndjson.Options
	var hint string
	if o.JSON, hint = contentType(r.Header.Get("Content-Type")); hint != "" {
		writeHint(w, http.StatusUnsupportedMediaType, unknownType+r.Header.Get("Content-Type"), hint)
		return
	}
	switch encoding := strings.Join(r.Header.Values("Content-Encoding"), ", "); strings.ToLower(encoding) {
	case "", "identity":
	case "gzip":
		o.Gzip = true
	default:
		writeError(w, http.StatusUnsupportedMediaType, unknownEncoding+encoding)
		return
	}
	given, err := query(r, "commit")
	if err != nil {
		reply.JSON(w, http.StatusBadRequest, refusedBody{Error: err.Error()})
		return
	}
	if commit, ok := given["commit"]; ok {
		if commit != "true" && commit != "false" {
			reply.JSON(w, http.StatusBadRequest, refusedBody{Error: badCommit})
			return
		}
		o.Commit = commit == "true"
	}
	n, undecoded, err := res.Ingest.Ingest(r.Context(), r.Body, o)
	if undecoded > 0 {
		w.Header().Set(undecodedHeader, strconv.Itoa(undecoded))
	}
	if err != nil {
		unit := "line"
		if o.JSON {
			unit = "value"
		}
		status, body := res.refuseBody(unit, n, err)
		reply.JSON(w, status, body)
		return
	}
	reply.JSON(w, http.StatusOK, accepted{n})
}

// resume says where a client goes on when n units were accepted, lines or values.
func resume(unit string, n int) string {
	if n == 0 {
		return "send all of it again, since nothing was accepted"
	}
	return fmt.Sprintf("go on behind %s %d, the last that was accepted", unit, n)
}

// refuseBody maps the errors of Ingest to statuses and bodies.
func (res *Resources) refuseBody(unit string, n int, err error) (int, refusedBody) {
	var encoded *sources.EncodingError
	switch {
	case errors.Is(err, ndjson.ErrLineTooLong):
		return http.StatusRequestEntityTooLarge, refusedBody{Error: lineTooLong, MaxBytes: sources.MaxLine, Accepted: n, Hint: "leave out the " + unit + " that is too long and " + resume(unit, n)}
	case errors.Is(err, ndjson.ErrBodyTooLarge):
		return http.StatusRequestEntityTooLarge, refusedBody{Error: bodyTooLarge, MaxBytes: res.MaxIngestBody, Accepted: n, Hint: "split the body and " + resume(unit, n) + ", or raise daemon.input.http.max_body_bytes, which counts inflated bytes"}
	case errors.Is(err, ndjson.ErrCompressed):
		return http.StatusUnsupportedMediaType, refusedBody{Error: err.Error(), Accepted: n, Hint: gzipHint}
	case errors.Is(err, ndjson.ErrTwiceGzip):
		return http.StatusUnsupportedMediaType, refusedBody{Error: err.Error(), Accepted: n, Hint: gzipOnceHint}
	case errors.As(err, &encoded):
		return http.StatusUnsupportedMediaType, refusedBody{
			Error: fmt.Sprintf("request body is %s, which is not read", encoded.Encoding), Accepted: n,
			Hint: fmt.Sprintf("send events as text in UTF-8: %s makes it of a file", encoded.Encoding.Tool()),
		}
	case errors.Is(err, ndjson.ErrDraining):
		return http.StatusServiceUnavailable, refusedBody{Error: channelClosed, Accepted: n}
	case errors.Is(err, ndjson.ErrCommitDeadline):
		return http.StatusServiceUnavailable, refusedBody{Error: commitLate, Accepted: n, Hint: commitLateHint}
	}
	status, text := readFailure(err)
	if status == http.StatusServiceUnavailable {
		text = channelClosed
	}
	return status, refusedBody{Error: text, Accepted: n}
}
