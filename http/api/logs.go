//go:build !no_otlp

package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/otlp/ingest"
)

var logRoutes = []route{{pattern: otlp.Path, endpoints: table{
	http.MethodPost: {permission: ingest.Permission, serve: (*Resources).postLogs, operation: sendLogs},
}}}

var sendLogs = operation{
	id: "sendLogs", summary: "Send log records",
	text: "Takes an export request of OTLP, whatever the input of the daemon is. Each log record becomes one event. Without a content type the body is protobuf. " +
		"The answer has the encoding of the request.",
	header: []openapi.Parameter{{
		Name: "Content-Encoding", In: "header", Description: "How the body is compressed, in any letter case. An empty value is as good as none.", Schema: word(nil, "identity", "gzip", ""),
	}},
	body: &openapi.Request{
		Description: "An ExportLogsServiceRequest. It may have what daemon.input.http.max_body_bytes says, after inflation; a record may have 1 MiB as an event.",
		Content:     []openapi.Content{{Type: typeProtobuf}, {Type: "application/protobuf"}, {Type: typeJSON}},
	},
	answers: []openapi.Answer{
		{
			Status: http.StatusOK, Description: "The records were taken, but for those that are rejected.",
			Content: []openapi.Content{{Type: typeJSON, Body: exported{}}, {Type: typeProtobuf}},
		},
		fails(http.StatusBadRequest, "The body cannot be read, inflated or decoded."),
		fails(http.StatusRequestTimeout, "The body did not go on for a minute."),
		failsAs(http.StatusRequestEntityTooLarge, tooLarge{}, "The body is too large.", bodyTooLarge),
		fails(http.StatusUnsupportedMediaType, "The content type or the content encoding is not known."),
		with(fails(http.StatusServiceUnavailable, "The daemon is shutting down, or too many large requests come at once.", channelClosed, tooManyLarge),
			"Retry-After", "Seconds to wait, when too many requests are large.", text()),
	},
}

const (
	typeProtobuf = "application/x-protobuf"
	tooManyLarge = "too many large requests at once"
)

type exported struct {
	Partial partialSuccess `json:"partialSuccess"`
}

type partialSuccess struct {
	Rejected int    `json:"rejectedLogRecords" min:"0" doc:"Records that are too long as events"`
	Message  string `json:"errorMessage" doc:"Why records were rejected, or that the request has no resourceLogs; else empty"`
}

func (res *Resources) postLogs(w http.ResponseWriter, r *http.Request) {
	o, err := res.Logs.Post(r.Context(), ingest.Post{
		ContentType: r.Header.Get("Content-Type"), ContentEncoding: strings.Join(r.Header.Values("Content-Encoding"), ", "), Body: r.Body,
	})
	switch {
	case err != nil:
		res.refuseLogs(w, err)
	case o.JSON:
		reply.JSON(w, http.StatusOK, exported{partialSuccess{o.Rejected, o.Message()}})
	default:
		w.Header().Set("Content-Type", typeProtobuf)
		w.WriteHeader(http.StatusOK)
		_, _ = w.Write(otlp.AppendAnswer(nil, otlp.Answer{Rejected: int64(o.Rejected), Message: o.Message()})) // a client that has left gets nothing
	}
}

// refuseLogs answers to a request that was not taken.
func (res *Resources) refuseLogs(w http.ResponseWriter, err error) {
	var refused *ingest.Refusal
	if !errors.As(err, &refused) {
		status, text := readFailure(err)
		if errors.Is(err, ingest.ErrDraining) || status == http.StatusServiceUnavailable {
			status, text = http.StatusServiceUnavailable, channelClosed
		}
		writeError(w, status, text)
		return
	}
	switch refused.Kind {
	case ingest.TooLarge:
		reply.JSON(w, http.StatusRequestEntityTooLarge, tooLarge{bodyTooLarge, res.MaxIngestBody})
	case ingest.UnknownType, ingest.UnknownEncoding:
		writeError(w, http.StatusUnsupportedMediaType, refused.Error())
	case ingest.Exhausted:
		w.Header().Set("Retry-After", "1")
		writeHint(w, http.StatusServiceUnavailable, tooManyLarge, "send it again, or smaller requests")
	default:
		writeError(w, http.StatusBadRequest, refused.Error())
	}
}
