package server

import (
	"io"
	"net/http"
	"time"
)

// What is read of a body after its request was answered. A client that is
// still writing would otherwise see a reset connection instead of the answer.
const (
	discardBytes = 256 << 10
	discardTime  = time.Second

	// leaveTime is how long after the beginning of Shutdown bodies may still come.
	leaveTime = time.Second
)

// bounded bounds how long next waits for its client.
func (s *Server) bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if r.ProtoMajor != 1 {
			w = &timedWriter{ResponseWriter: w, control: control, server: s}
			defer func() { _ = control.SetWriteDeadline(time.Now().Add(writeTimeout)) }() // of what is still to be flushed
		}
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		body := &watchedBody{ReadCloser: r.Body, control: control, server: s, conn: r.Context().Value(connKey{}).(*conn), stream: r.ProtoMajor != 1}
		body.conn.late.Store(false)
		s.enter(body)
		defer s.exit(body)
		if r.ProtoMajor == 1 {
			answerEarly(next, w, r, body)
			return
		}
		inner := r.WithContext(r.Context())
		inner.Body = body
		next.ServeHTTP(w, inner)
	})
}

// answerEarly makes an answer that comes before the end of an HTTP/1 body
// arrive: it goes out at once, announces the end of the connection, and a
// bounded part of the remaining body is read and forgotten. HTTP/2 resets the
// one stream by itself.
func answerEarly(next http.Handler, w http.ResponseWriter, r *http.Request, body *watchedBody) {
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
	patience := discardTime
	if body.slow.Load() {
		patience = 0 // it has been waited for
	}
	// The deadline also bounds what net/http reads before it closes.
	if body.control.Flush() != nil || body.control.SetReadDeadline(time.Now().Add(patience)) != nil || patience == 0 {
		return
	}
	if !body.begun.Load() && r.Header.Get("Expect") != "" {
		return // the client waits for a word to begin, and gets the answer instead
	}
	_, _ = io.CopyN(io.Discard, body.ReadCloser, discardBytes)
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
