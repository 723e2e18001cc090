package server

import (
	"io"
	"net/http"
	"strconv"
)

// headerSize is what the request line and the header take, in HTTP/1 spelling.
func headerSize(r *http.Request) int {
	n := len(r.Method) + len(r.RequestURI) + len("Host: ") + len(r.Host)
	for name, values := range r.Header {
		for _, v := range values {
			n += len(name) + len(": \r\n") + len(v)
		}
	}
	return n
}

func refuseHeader(w http.ResponseWriter) {
	const body = `{"error":"request header fields too large"}` + "\n"
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Connection", "close")
	w.WriteHeader(http.StatusRequestHeaderFieldsTooLarge)
	_, _ = io.WriteString(w, body)
}
