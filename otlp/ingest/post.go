package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sluicehq/sluice/otlp"
)

// Post is a request over HTTP.
type Post struct {
	ContentType     string
	ContentEncoding string // all values of the header, with commas between them
	Body            io.Reader
}

// Refusal is a request that is not taken, for a reason that its client can mend.
type Refusal struct {
	Kind RefusalKind
	text string
}

// RefusalKind says what is wrong with a request.
type RefusalKind uint8

// The kinds.
const (
	UnknownType     RefusalKind = iota // no body of this type is read
	UnknownEncoding                    // nor one that is compressed like this
	Malformed                          // it cannot be inflated or decoded
	TooLarge                           // it has too many bytes
	Exhausted                          // too many others are large; it may be sent again
)

// Error says what is wrong.
func (r *Refusal) Error() string { return r.text }

// Post takes in a request over HTTP. An error is a *Refusal, ErrDraining, the error of its
// body, or that of ctx. Records that were taken before an error stay taken.
func (n *Intake) Post(ctx context.Context, p Post) (Outcome, error) {
	name, _, _ := strings.Cut(p.ContentType, ";")
	var o Outcome
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "application/json":
		o.JSON = true
	case "application/x-protobuf", "application/protobuf":
	default:
		if p.ContentType != "" {
			return o, n.refuse(overHTTP, reasonType, UnknownType, fmt.Sprintf("unsupported content-type: %s (expected application/x-protobuf or application/json)", p.ContentType))
		}
	}
	zipped := false
	switch strings.ToLower(p.ContentEncoding) {
	case "", "identity":
	case "gzip":
		zipped = true
	default:
		return o, n.refuse(overHTTP, reasonDecompression, UnknownEncoding, "unsupported content-encoding: "+p.ContentEncoding)
	}
	b := body{intake: n}
	defer b.close()
	if err := n.read(ctx, overHTTP, &b, p.Body, zipped); err != nil {
		return o, err
	}
	encoding, request := encodingProtobuf, b.bytes
	if o.JSON {
		encoding = encodingJSON
		wire := body{intake: n}
		defer wire.close()
		if err := n.transcode(ctx, &wire, b.bytes); err != nil {
			return o, err
		}
		o.Foreign = len(wire.bytes) == 0 && otlp.Foreign(b.bytes)
		b.close()
		request = wire.bytes
	}
	records, err := check(request)
	if err != nil {
		return o, n.refuse(overHTTP, reasonDecode, Malformed, "protobuf decode error: "+err.Error())
	}
	n.metrics.took(overHTTP, encoding, records)
	o.Rejected, err = n.take(ctx, overHTTP, request)
	return o, err
}

// refuse counts a request that is not taken.
func (n *Intake) refuse(t transport, r reason, kind RefusalKind, text string) error {
	n.metrics.refused(t, r)
	return &Refusal{kind, text}
}

// read reads the body of a request as a whole.
func (n *Intake) read(ctx context.Context, t transport, b *body, src io.Reader, zipped bool) error {
	read, why := b.read, reasonDecode
	if zipped {
		read, why = b.inflate, reasonDecompression
	}
	err := read(ctx, src, n.maxBody)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errTooLarge):
		return n.refuse(t, why, TooLarge, err.Error())
	case errors.Is(err, errInflate):
		return n.refuse(t, why, Malformed, err.Error())
	case errors.Is(err, errExhausted):
		return n.refuse(t, reasonClosed, Exhausted, err.Error())
	}
	n.broken(ctx, t, err)
	return err
}

// broken counts a request whose body broke off, if its client is still there.
func (n *Intake) broken(ctx context.Context, t transport, err error) {
	var known interface{ Status() int }
	switch {
	case ctx.Err() != nil:
	case errors.As(err, &known) && known.Status() == statusUnavailable:
		n.metrics.refused(t, reasonClosed)
	default:
		n.metrics.refused(t, reasonDecode)
	}
}

// statusUnavailable is what a server says that is shutting down, and waits no longer for
// the rest of a body.
const statusUnavailable = 503

// transcode makes protobuf of a request in JSON.
func (n *Intake) transcode(ctx context.Context, wire *body, text []byte) error {
	// What comes out is at most about twice as long as what went in.
	if more := 2*int64(len(text)) - freeBody; more > 0 {
		if err := n.budget.enter(ctx, more); err != nil {
			if errors.Is(err, errExhausted) {
				return n.refuse(overHTTP, reasonClosed, Exhausted, err.Error())
			}
			return err
		}
		wire.held = more
	}
	var err error
	if wire.bytes, err = otlp.AppendRequest(n.bodies.get(len(text)), text); err != nil {
		return n.refuse(overHTTP, reasonDecode, Malformed, "JSON decode error: "+err.Error())
	}
	return nil
}
