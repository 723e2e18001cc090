package egress

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// ErrTooLarge is wrapped by the error of ReadBody about a body that is too large.
var ErrTooLarge = errors.New("response body is too large")

// ReadBody reads the body of a response and closes it. A body of more than limit bytes,
// counted after decompression, is an error: at once if its length is declared, else as
// soon as more has been read.
func ReadBody(r *http.Response, limit int64) ([]byte, error) {
	defer r.Body.Close()
	tooLarge := fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read the response body: %w", err)
	case int64(len(body)) > limit:
		return nil, tooLarge
	}
	return body, nil
}

// Discard reads at most limit bytes of the body and closes it. After a shorter body the
// connection is used again; a longer one closes it.
func Discard(r *http.Response, limit int64) {
	_, _ = io.CopyN(io.Discard, r.Body, limit)
	_ = r.Body.Close()
}
