package audit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"math"
	"net/http"

	"github.com/sluicehq/sluice/http/reply"
)

// BodyTooLargeText is the error of BodyTooLarge.
const BodyTooLargeText = "request body exceeds audit max_body_bytes"

// BodyTooLarge is the body of the 413 for a request whose body is above the limit of the
// audit trail.
type BodyTooLarge struct {
	Error        string `json:"error"`
	MaxBodyBytes int64  `json:"max_body_bytes"`
}

// Wrap records every use of next, which serves the route with the given pattern. It reads
// the body first, except for DELETE, and refuses one that is too large. The row is written
// before the first byte of the answer is; a panic of next is recorded as 500 and goes on.
func (t *Trail) Wrap(pattern string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w, trail: t, ctx: r.Context(), record: Record{Method: r.Method, Endpoint: pattern}}
		if t.o.Token != nil {
			a.record.Token = t.o.Token(r)
		}
		if r.Method != http.MethodDelete {
			var fits bool
			if r, fits = buffered(r, t.limit(), &a.record); !fits {
				reply.JSON(a, http.StatusRequestEntityTooLarge, BodyTooLarge{BodyTooLargeText, t.limit()})
				return
			}
		}
		returned := false
		defer func() {
			if !returned {
				a.end(http.StatusInternalServerError)
			}
		}()
		next.ServeHTTP(a, r)
		returned = true
		a.end(http.StatusOK) // of an answer without a body
	})
}

func (t *Trail) limit() int64 { return min(int64(t.o.Config.MaxBodyBytes), math.MaxInt64-1) }

// buffered reads the body of r, notes its digest, and returns a request with what was
// read. It reports false for a body that is too large. What broke off breaks off for the
// handler, too.
func buffered(r *http.Request, limit int64, note *Record) (_ *http.Request, fits bool) {
	switch {
	case r.ContentLength > limit:
		return r, false
	case r.Body == nil || r.Body == http.NoBody:
		return r, true
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	if int64(len(body)) > limit {
		return r, false
	}
	var rest io.Reader = http.NoBody
	if err != nil {
		rest = broken{err}
	} else if len(body) > 0 {
		sum := sha256.Sum256(body)
		digest := hex.EncodeToString(sum[:])
		note.PayloadDigest = &digest
	}
	inner := *r
	inner.Body = io.NopCloser(io.MultiReader(bytes.NewReader(body), rest))
	return &inner, true
}

// broken is the rest of a body that did not come.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// answer records the outcome before any of it is sent.
type answer struct {
	http.ResponseWriter
	trail  *Trail
	ctx    context.Context //nolint:containedctx // of the request, which the answer belongs to
	record Record
	ended  bool
}

func (a *answer) end(status int) {
	if !a.ended {
		a.ended = true
		a.record.Status = status
		a.trail.record(a.ctx, a.record)
	}
}

// WriteHeader sends the header of a recorded answer.
func (a *answer) WriteHeader(status int) {
	if status >= http.StatusOK {
		a.end(status)
	}
	a.ResponseWriter.WriteHeader(status)
}

// Write sends a part of a recorded answer.
func (a *answer) Write(p []byte) (int, error) {
	a.end(http.StatusOK)
	return a.ResponseWriter.Write(p)
}

// FlushError sends what there is of a recorded answer.
func (a *answer) FlushError() error {
	a.end(http.StatusOK)
	return http.NewResponseController(a.ResponseWriter).Flush()
}

// Unwrap gives http.ResponseController the writer of the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }
