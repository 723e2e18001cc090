package api

import (
	"net/http"

	"github.com/sluicehq/sluice/http/audit"
	"github.com/sluicehq/sluice/http/openapi"
)

// operation is what the OpenAPI document tells of an endpoint. What follows from the
// route, from its permission and from the kinds of its parameters is added to it, so it
// has only what no other endpoint has.
type operation struct {
	id      string // names the operation for generated clients
	summary string // one sentence without its period
	text    string // further sentences
	path    string // what the parameter of the path is
	query   []openapi.Parameter
	header  []openapi.Parameter
	body    *openapi.Request
	whole   bool // the body is read as a whole, by readBody
	asks    bool // an actor, which may refuse
	answers []openapi.Answer
}

// replies answers with JSON such as value.
func replies(status int, value any, description string) openapi.Answer {
	return openapi.Answer{Status: status, Description: description, Content: []openapi.Content{{Type: typeJSON, Body: value}}}
}

// fails answers with an error. When texts are given, its text is one of them.
func fails(status int, description string, texts ...string) openapi.Answer {
	return failsAs(status, errorBody{}, description, texts...)
}

// failsAs answers with an error that has members of its own, such as value.
func failsAs(status int, value any, description string, texts ...string) openapi.Answer {
	a := replies(status, value, description)
	a.Errors = texts
	return a
}

// off answers for a feature that is not on.
func off(text string) openapi.Answer {
	return fails(http.StatusServiceUnavailable, "The feature is off; `hint` says what to do.", text)
}

// shared gives an answer that many endpoints have its name.
func shared(name string, a openapi.Answer) openapi.Answer {
	a.Shared = name
	return a
}

// with adds a header that the answer may have.
func with(a openapi.Answer, name, description string, s *openapi.Schema) openapi.Answer {
	a.Headers = append(a.Headers, openapi.Header{Name: name, Description: description, Schema: s})
	return a
}

// param is an optional parameter of the query.
func param(name, description string, s *openapi.Schema) openapi.Parameter {
	return openapi.Parameter{Name: name, In: "query", Description: description, Schema: s}
}

// text is any text, word one of a few, number an integer within bounds. fallback is the
// value of a parameter that is absent; nil when there is none.
func text() *openapi.Schema { return &openapi.Schema{Type: "string"} }

func word(fallback any, words ...string) *openapi.Schema {
	return &openapi.Schema{Type: "string", Enum: words, Default: fallback}
}

func number(fallback any, minimum, maximum int64) *openapi.Schema {
	return &openapi.Schema{Type: "integer", Default: fallback, Minimum: &minimum, Maximum: &maximum}
}

// atLeast is an integer of at least minimum: a large one is as good as any larger one.
func atLeast(fallback any, minimum int64) *openapi.Schema {
	return &openapi.Schema{Type: "integer", Default: fallback, Minimum: &minimum}
}

func boolean(fallback bool) *openapi.Schema {
	return &openapi.Schema{Type: "boolean", Default: fallback}
}

// reads describes a body of JSON such as value.
func reads(value any, required bool, description string) *openapi.Request {
	return &openapi.Request{Description: description, Required: required, Content: []openapi.Content{{Type: typeJSON, Body: value}}}
}

// The answers that follow from what an endpoint is.
var (
	unauthorized = openapi.Answer{
		Status: http.StatusUnauthorized, Shared: "Unauthorized",
		Description: "Authentication is configured, and the request has no token or one that nobody knows.",
		Headers:     []openapi.Header{{Name: "WWW-Authenticate", Description: "`Bearer`.", Required: true, Schema: text()}},
		Content:     []openapi.Content{{Type: typeJSON, Body: errorBody{}}},
	}
	forbidden = shared("Forbidden", fails(http.StatusForbidden, "The token lacks the permission that `error` names."))
	starting  = shared("Starting", fails(http.StatusServiceUnavailable, "The daemon is starting: its rules are still loading.", "starting"))
	internal  = shared("InternalError", fails(http.StatusInternalServerError, "A fault of the daemon. The log has the details.", internalError))
	badQuery  = shared("BadQuery", fails(http.StatusBadRequest, "A parameter is malformed or given more than once; `error` names it."))

	badBody  = fails(http.StatusBadRequest, "The body cannot be read, or it is not what the schema says.")
	slowBody = shared("SlowBody", fails(http.StatusRequestTimeout, "The body did not go on for a minute."))
	bigBody  = failsAs(http.StatusRequestEntityTooLarge, tooLarge{}, "The body is over 2 MiB.", bodyTooLarge)
	bigAudit = failsAs(http.StatusRequestEntityTooLarge, audit.BodyTooLarge{}, "The audit trail is on, and the body is over `daemon.api.audit.max_body_bytes`.", audit.BodyTooLargeText)
	leaving  = fails(http.StatusServiceUnavailable, "The daemon is shutting down.", "shutting down")

	refused = with(
		fails(http.StatusServiceUnavailable, "The actor that knows did not answer: too many requests wait for it, it is busy or restarting, or the daemon is shutting down."),
		"Retry-After", "Seconds to wait, when too many requests wait.", text())
)

// all are the answers of an endpoint: its own and those that follow from what it is.
func (o *operation) all(e endpoint, method string) []openapi.Answer {
	all := append([]openapi.Answer(nil), o.answers...)
	add := func(when bool, answers ...openapi.Answer) {
		if when {
			all = append(all, answers...)
		}
	}
	add(!e.open, unauthorized, forbidden)
	add(e.early == nil, starting)
	add(len(o.query) > 0, badQuery)
	add(o.whole, badBody, slowBody, bigBody, leaving)
	add(e.audited && method != http.MethodDelete, bigAudit)
	add(o.asks, refused)
	add(true, internal)
	return all
}
