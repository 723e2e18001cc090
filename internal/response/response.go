// Package response reads what servers answer over HTTP, and no more of it, and no
// longer, than the reader can use.
package response

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Bounds of a body that is read after the status has decided everything.
const (
	maxRest  = 64 << 10
	restWait = time.Second
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

// ReadRest reads the body of a response whose status has decided everything, and closes
// it: at most 64 KiB, and for at most a second. The error says why the body ended before
// its end. After a shorter body the connection is used again; any other closes it.
func ReadRest(r *http.Response) (body []byte, err error) {
	rest(r, func(in io.Reader) { body, err = io.ReadAll(in) })
	return body, err
}

// Discard reads a body as ReadRest does, and keeps nothing.
func Discard(r *http.Response) {
	rest(r, func(in io.Reader) { _, _ = io.Copy(io.Discard, in) })
}

func rest(r *http.Response, read func(io.Reader)) {
	late := time.AfterFunc(restWait, func() { _ = r.Body.Close() }) // which ends a read
	read(io.LimitReader(r.Body, maxRest))
	late.Stop()
	_ = r.Body.Close()
}

// RetryAfter is how long a server wants to be left alone, at most so long: the header
// Retry-After, in seconds or as a date. What cannot be read asks for nothing.
func RetryAfter(h http.Header, now time.Time, most time.Duration) time.Duration {
	text := strings.Trim(h.Get("Retry-After"), " \t")
	if text != "" && strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseInt(text, 10, 64)
		if err != nil || seconds > int64(most/time.Second) {
			return most
		}
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(text)
	if err != nil {
		return 0
	}
	return min(max(at.Sub(now), 0), most)
}
