package webhook

import (
	"errors"
	"io"
	"net/http"
	"sync"
)

// payload is the body of a request. A client may go on reading it when the attempt is
// over, as after an answer that came early; then the memory is not ours any more.
type payload struct {
	mu   sync.Mutex
	data []byte
	gone bool
}

var errWithdrawn = errors.New("the attempt is over")

// withdraw ends every reader.
func (p *payload) withdraw() {
	p.mu.Lock()
	p.data, p.gone = nil, true
	p.mu.Unlock()
}

// attach makes it the body of r.
func (p *payload) attach(r *http.Request) {
	r.ContentLength = int64(len(p.data))
	if len(p.data) == 0 {
		r.Body = http.NoBody
		return
	}
	r.GetBody = func() (io.ReadCloser, error) { return &reader{of: p}, nil }
	r.Body = &reader{of: p}
}

// reader reads a payload once.
type reader struct {
	of *payload
	at int
}

// Read implements io.Reader.
func (r *reader) Read(dst []byte) (int, error) {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	if r.of.gone {
		return 0, errWithdrawn
	}
	n := copy(dst, r.of.data[r.at:])
	if r.at += n; n == 0 && len(dst) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Close does nothing: withdraw ends it.
func (*reader) Close() error { return nil }
