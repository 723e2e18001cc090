package server

import (
	"io"
	"net/http"
	"time"
)

// What is read and forgotten of a body that its handler leaves unread. A client that
// is still writing would otherwise see a reset connection instead of the answer. Who may
// not use the endpoint gets less.
const (
	discardBytes   = 256 << 10
	discardRefused = 64 << 10 // after 401 and 403
	discardTime    = time.Second

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

// answerEarly makes an answer that comes before the end of an HTTP/1 body arrive. When
// the rest of the body is known to be small, it is read and forgotten, and the
// connection stays. Else the answer goes out at once and announces the end of the
// connection, and a bounded part of the rest is read and forgotten. HTTP/2 resets the one
// stream by itself.
func answerEarly(next http.Handler, w http.ResponseWriter, r *http.Request, body *watchedBody) {
	// A copy: net/http looks at the body of its own request to decide
	// whether the connection can be used again.
	ctx, cancel := endWhenClientLeaves(r, body)
	inner := r.WithContext(ctx)
	inner.Body = body
	early := &earlyWriter{ResponseWriter: w, request: r, body: body, limit: discardBytes}
	func() {
		defer cancel()
		next.ServeHTTP(early, inner)
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
	if early.unasked() {
		return
	}
	// Over the limit, net/http ends the connection in a way that leaves the client time to
	// read the answer. It would read on before that.
	_, _ = io.Copy(io.Discard, http.MaxBytesReader(w, body.ReadCloser, early.limit))
	_ = body.control.SetReadDeadline(time.Unix(1, 0))
}

// earlyWriter ends the connection of an answer that leaves body unread, since
// the next request would begin somewhere inside it.
type earlyWriter struct {
	http.ResponseWriter
	request *http.Request
	body    *watchedBody
	wrote   bool
	limit   int64 // of what is read and forgotten
}

// unasked reports whether the client waits for a word to begin with its body. It gets
// the answer instead.
func (w *earlyWriter) unasked() bool {
	return !w.body.begun.Load() && w.request.Header.Get("Expect") != ""
}

// finish reads the rest of a body that is known to be small, and reports whether it
// came in time.
func (w *earlyWriter) finish() bool {
	b := w.body
	rest := w.request.ContentLength - b.taken.Load()
	if rest <= 0 || rest > w.limit || w.unasked() || b.slow.Load() || b.server.leaving.Load() != 0 {
		return false
	}
	if b.control.SetReadDeadline(time.Now().Add(discardTime)) != nil {
		return false
	}
	n, err := io.Copy(io.Discard, io.LimitReader(b.ReadCloser, rest+1))
	if n != rest || err != nil {
		b.slow.Store(true)
		return false
	}
	b.ended.Store(true)
	b.wait(0)
	return true
}

func (w *earlyWriter) WriteHeader(status int) {
	if status >= http.StatusOK && !w.wrote {
		w.wrote = true
		if status == http.StatusUnauthorized || status == http.StatusForbidden {
			w.limit = discardRefused
		}
		if !w.body.ended.Load() && !w.finish() {
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
