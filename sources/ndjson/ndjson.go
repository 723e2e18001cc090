// Package ndjson takes in events that clients push in request bodies: one per line, or
// the values of a body of JSON. What it answers with are outcomes; the route turns them into statuses.
package ndjson

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sources"
)

// DefaultMaxBody bounds a body, after inflation, unless configured otherwise.
const DefaultMaxBody = 20 << 20

// commitWait is how long an answer may wait for its lines to end.
const commitWait = 30 * time.Second

// The outcomes of a body that was not taken in as asked. Anything else is a
// *sources.EncodingError, a *BodyError, or the error of the request's context.
var (
	ErrLineTooLong    = errors.New("line exceeds maximum size")
	ErrBodyTooLarge   = errors.New("request body exceeds maximum size")
	ErrCompressed     = errors.New("request body is gzip, which no Content-Encoding says")
	ErrTwiceGzip      = errors.New("request body is gzip within gzip")
	ErrDraining       = errors.New("event channel closed")
	ErrCommitDeadline = errors.New("commit deadline passed")
)

// BodyError is a body that cannot be read or inflated.
type BodyError struct{ Err error }

// Error names the cause.
func (e *BodyError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *BodyError) Unwrap() error { return e.Err }

// Options say how a body is to be taken in.
type Options struct {
	Gzip   bool // the body is compressed
	JSON   bool // it is JSON, on whatever lines
	Commit bool // wait until every admitted line has ended
}

// Intake takes in bodies. It may be used by any number of requests at once.
type Intake struct {
	// Lines says that the input format is not JSON: a body of JSON is lines like any
	// other. It is set before the first body comes.
	Lines bool
	// Whole says that an array at the top of a body of JSON is one value, like others. It
	// is set before the first body comes.
	Whole bool

	maxBody int64
	over    <-chan struct{}
	pumps   sync.Pool
	buffers sources.Buffers
}

// NewIntake returns an intake that hands over to in. A body may have maxBody
// bytes once inflated. Nobody waits for a commit after over is closed, which is
// the end of the drain; nil means never.
func NewIntake(in sources.Intake, maxBody int64, over <-chan struct{}) *Intake {
	n := &Intake{maxBody: maxBody, over: over}
	n.pumps.New = func() any { return &sources.Pump{Intake: in, StopAtOversize: true} }
	return n
}

// reader cuts a body into texts.
func (n *Intake) reader(body io.Reader, json bool) sources.Reader {
	if json && !n.Lines {
		r := n.buffers.NewValueReader(body)
		r.Whole(n.Whole)
		return r
	}
	return n.buffers.NewReader(body)
}

// Ingest reads body as a stream and hands its lines over, or its values. It returns how many
// were admitted, which holds whatever the error: those lines stay in. A body
// that is refused part way is answered without waiting for a commit. After a wait
// undecoded is how many of the lines that have ended could not be decoded.
func (n *Intake) Ingest(ctx context.Context, body io.Reader, o Options) (accepted, undecoded int, err error) {
	if o.Gzip {
		inflated, err := sources.NewGzipReader(body)
		switch {
		case errors.Is(err, io.EOF):
			return 0, 0, nil // nothing at all is an empty body
		case err != nil:
			return 0, 0, &BodyError{Err: err}
		}
		body = inflated
	}
	pump := n.pumps.Get().(*sources.Pump)
	defer func() {
		pump.Receipt = nil
		n.pumps.Put(pump)
	}()
	var commit *commit
	if o.Commit {
		commit = newCommit()
		pump.Receipt = commit.receipt
	}
	accepted, err = pump.Run(ctx, n.reader(&capped{src: body, left: n.maxBody, gzip: o.Gzip}, o.JSON))
	if err = outcome(ctx, err); err != nil || commit == nil {
		return accepted, 0, err
	}
	err = commit.wait(n.over)
	return accepted, commit.failed(), err
}

// outcome translates what ended a pump.
func outcome(ctx context.Context, err error) error {
	var broken *sources.ReadError
	var encoded *sources.EncodingError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, sources.ErrOversize):
		return ErrLineTooLong
	case errors.Is(err, ErrBodyTooLarge):
		return ErrBodyTooLarge
	case errors.Is(err, ErrCompressed):
		return ErrCompressed
	case errors.Is(err, ErrTwiceGzip):
		return ErrTwiceGzip
	case errors.As(err, &encoded):
		return encoded
	case errors.As(err, &broken): // which ends ctx, too
		return &BodyError{Err: broken.Err}
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return ErrDraining
}

// capped fails with ErrBodyTooLarge when there is more than left bytes to read, with
// ErrCompressed or ErrTwiceGzip when what it reads is still compressed, and with a
// *sources.EncodingError when it is no text for another reason.
type capped struct {
	src  io.Reader
	left int64
	gzip bool // src is inflated
	mark sources.Mark
}

func (c *capped) Read(p []byte) (int, error) {
	if int64(len(p))-1 > c.left {
		p = p[:c.left+1]
	}
	n, err := c.src.Read(p)
	switch e := c.mark.In(p[:n]); {
	case e == sources.Text8:
	case e != sources.Gzip:
		return 0, &sources.EncodingError{Encoding: e}
	case c.gzip:
		return 0, ErrTwiceGzip
	default:
		return 0, ErrCompressed
	}
	if int64(n) > c.left {
		n = int(c.left)
		err = ErrBodyTooLarge
	}
	c.left -= int64(n)
	return n, err
}

// commit waits for the receipts of one body.
type commit struct {
	mu        sync.Mutex // guards open and undecoded
	open      int        // receipts, plus one while the body is being read
	undecoded int        // lines of the receipts that have ended
	ended     chan struct{}
}

func newCommit() *commit { return &commit{open: 1, ended: make(chan struct{})} }

func (c *commit) receipt(lines int) *graph.Receipt {
	c.mu.Lock()
	c.open++
	c.mu.Unlock()
	var r *graph.Receipt // a run has lines, so this is set before the last of them ends
	r = graph.NewReceipt(lines, func() { c.settled(r.Undecoded()) })
	return r
}

func (c *commit) settled(undecoded int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.undecoded += undecoded
	c.open--
	if c.open == 0 {
		close(c.ended)
	}
}

// failed is how many lines could not be decoded, of the receipts that have ended.
func (c *commit) failed() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.undecoded
}

// wait returns when every line has ended. The wait begins with the admission of
// the last one. It goes on when the request's context ends: a client that has closed
// its side looks like one that has left, and may wait for the answer all the same.
func (c *commit) wait(over <-chan struct{}) error {
	c.settled(0)
	timer := time.NewTimer(commitWait)
	defer timer.Stop()
	select {
	case <-c.ended:
		return nil
	case <-timer.C:
	case <-over:
	}
	select {
	case <-c.ended: // before the wait was over, or with it
		return nil
	default:
		return ErrCommitDeadline
	}
}
