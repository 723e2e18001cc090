package server

import (
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// What is read of a body after its request was answered. A client that is
// still writing would otherwise see a reset connection instead of the answer.
const (
	discardBytes = 256 << 10
	discardTime  = time.Second
)

// answerEarly makes an answer that comes before the end of an HTTP/1 body
// arrive: it goes out at once, announces the end of the connection, and a
// bounded part of the remaining body is read and forgotten. HTTP/2 resets the
// one stream by itself.
func answerEarly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 1 || r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &watchedBody{ReadCloser: r.Body}
		// A copy: net/http looks at the body of its own request to decide
		// whether the connection can be used again.
		ctx, cancel := endWhenClientLeaves(r, body)
		inner := r.WithContext(ctx)
		inner.Body = body
		func() {
			defer cancel()
			next.ServeHTTP(&earlyWriter{ResponseWriter: w, body: body}, inner)
		}()
		if body.ended.Load() {
			return
		}
		// The deadline also bounds what net/http reads before it closes.
		control := http.NewResponseController(w)
		if control.Flush() != nil || control.SetReadDeadline(time.Now().Add(discardTime)) != nil {
			return
		}
		if !body.begun.Load() && r.Header.Get("Expect") != "" {
			return // the client waits for a word to begin, and gets the answer instead
		}
		_, _ = io.CopyN(io.Discard, body, discardBytes)
	})
}

// watchedBody knows whether its reader has come to the end.
type watchedBody struct {
	io.ReadCloser
	begun, ended atomic.Bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	b.begun.Store(true)
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF {
		b.ended.Store(true)
	}
	return n, err
}

// earlyWriter ends the connection of an answer that leaves body unread, since
// the next request would begin somewhere inside it.
type earlyWriter struct {
	http.ResponseWriter
	body  *watchedBody
	wrote bool
}

func (w *earlyWriter) WriteHeader(status int) {
	if status >= http.StatusOK && !w.wrote {
		w.wrote = true
		if !w.body.ended.Load() {
			w.Header().Set("Connection", "close")
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *earlyWriter) Write(p []byte) (int, error) {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	return w.ResponseWriter.Write(p)
}

// FlushError lets streams through, with the header of this writer.
func (w *earlyWriter) FlushError() error {
	if !w.wrote {
		w.WriteHeader(http.StatusOK)
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Unwrap gives http.ResponseController the writer of the connection.
func (w *earlyWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }
