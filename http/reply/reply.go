// Package reply writes the answers of the API that are JSON.
package reply

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
)

// Type is the media type of the answers.
const Type = "application/json"

// InternalError is what an answer says when nothing else may be said.
const InternalError = "internal error"

// JSON answers with v on a line of its own. Characters of HTML are not escaped. v is
// encoded before anything is written, so that a value that does not encode becomes a 500
// and not half an answer.
func JSON(w http.ResponseWriter, status int, v any) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		b.Reset()
		status = http.StatusInternalServerError
		b.WriteString(`{"error":"` + InternalError + `"}` + "\n")
	}
	h := w.Header()
	h.Set("Content-Type", Type)
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes()) // a client that has left gets nothing
}
