package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"unicode/utf8"

	"github.com/sluicehq/sluice/http/reply"
)

// maxBody bounds the body of every route that reads one as a whole.
const maxBody = 2 << 20

// query returns the one value of each known parameter, "" for absent ones, and
// whether it was given. Parameters nobody knows are ignored; a known one given
// twice is an error naming it.
func query(r *http.Request, known ...string) (map[string]string, error) {
	all, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, fmt.Errorf("malformed query parameters: %w", err)
	}
	given := make(map[string]string)
	for _, name := range known {
		switch values := all[name]; {
		case len(values) > 1:
			return nil, fmt.Errorf("query parameter '%s' is given more than once", name)
		case len(values) == 0:
		case !utf8.ValidString(values[0]):
			return nil, fmt.Errorf("query parameter '%s' is not valid UTF-8", name)
		default:
			given[name] = values[0]
		}
	}
	return given, nil
}

// tooLarge is the answer to a body above maxBody.
type tooLarge struct {
	Error    string `json:"error"`
	MaxBytes int64  `json:"max_bytes" doc:"What was exceeded"`
}

// readBody returns the body as text. When it reports false the answer has been
// written.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	body, ok := readBytes(w, r)
	if ok && !utf8.Valid(body) {
		writeError(w, http.StatusBadRequest, "body is not valid UTF-8")
		return nil, false
	}
	return body, ok
}

// readBytes returns the body. When it reports false the answer has been written.
func readBytes(w http.ResponseWriter, r *http.Request) ([]byte, bool) {
	if r.ContentLength > maxBody {
		reply.JSON(w, http.StatusRequestEntityTooLarge, tooLarge{bodyTooLarge, maxBody})
		return nil, false
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	switch {
	case err != nil:
		status, text := readFailure(err)
		writeError(w, status, text)
	case len(body) > maxBody:
		reply.JSON(w, http.StatusRequestEntityTooLarge, tooLarge{bodyTooLarge, maxBody})
	default:
		return body, true
	}
	return nil, false
}

// readFailure is the answer to a body that broke off. A server that has stopped to
// wait for more of it says so by an error with the method Status() int.
func readFailure(err error) (status int, text string) {
	var known interface {
		error
		Status() int
	}
	if errors.As(err, &known) {
		return known.Status(), known.Error()
	}
	return http.StatusBadRequest, fmt.Sprintf("read request body: %v", err)
}

// discard reads a small body that has no meaning, so that the connection can be
// used again.
func discard(r *http.Request) {
	if r.ContentLength >= 0 && r.ContentLength <= maxBody {
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

// object parses a body that is one JSON object. Member names are compared
// exactly, which decoding into a struct would not do.
func object(body []byte) (map[string]json.RawMessage, error) {
	var members map[string]json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(body))
	if err := dec.Decode(&members); err != nil || members == nil {
		return nil, errors.New("body is not a JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("body is not one JSON object")
	}
	return members, nil
}
