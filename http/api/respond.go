package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

const (
	typeJSON      = "application/json"
	internalError = "internal error"
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

// writeJSON sends v. It is encoded before anything is written, so that a value
// that does not encode becomes a 500 and not half an answer.
func writeJSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		b.Reset()
		status = http.StatusInternalServerError
		b.WriteString(`{"error":"` + internalError + `"}` + "\n")
	}
	h := w.Header()
	h.Set("Content-Type", typeJSON)
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a client that has left gets nothing
}

func writeError(w http.ResponseWriter, status int, text string) {
	writeJSON(w, status, errorBody{Error: text})
}

func writeHint(w http.ResponseWriter, status int, text, hint string) {
	writeJSON(w, status, errorBody{Error: text, Hint: hint})
}

// present returns an empty list instead of nil, which would be encoded as null.
func present[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
