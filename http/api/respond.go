package api

import (
	"net/http"

	"github.com/sluicehq/sluice/http/reply"
)

const (
	typeJSON      = reply.Type
	internalError = reply.InternalError
)

// errorBody is the body of every error. Errors with further members have types of
// their own, which begin the same way.
type errorBody struct {
	Error string `json:"error"`
	Hint  string `json:"hint,omitempty" doc:"What to do"`
}

// statusBody answers a request whose outcome is one word.
type statusBody struct {
	Status string `json:"status"`
}

func writeError(w http.ResponseWriter, status int, text string) {
	reply.JSON(w, status, errorBody{Error: text})
}

func writeHint(w http.ResponseWriter, status int, text, hint string) {
	reply.JSON(w, status, errorBody{Error: text, Hint: hint})
}

// present returns an empty list instead of nil, which would be encoded as null.
func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
