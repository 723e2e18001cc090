package server

import (
	"net/http"
	"time"
)

// timedWriter bounds the writes of an HTTP/2 stream, whose client may take the
// others' and not this one's.
type timedWriter struct {
	http.ResponseWriter
	control *http.ResponseController
	server  *Server
}

func (w *timedWriter) Write(p []byte) (n int, err error) {
	w.timed(func() error { n, err = w.ResponseWriter.Write(p); return err })
	return n, err
}

// FlushError lets streams through.
func (w *timedWriter) FlushError() (err error) {
	w.timed(func() error { err = w.control.Flush(); return err })
	return err
}

// Flush is FlushError for those who know only that.
func (w *timedWriter) Flush() { _ = w.FlushError() }

// Unwrap gives http.ResponseController the writer of the stream.
func (w *timedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *timedWriter) timed(write func() error) {
	begin := time.Now()
	_ = w.control.SetWriteDeadline(begin.Add(writeTimeout))
	err := write()
	_ = w.control.SetWriteDeadline(time.Time{})
	if err != nil && time.Since(begin) >= writeTimeout {
		w.server.count(writeTimedOut)
	}
}
