package export

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/sluicehq/sluice/otlp"
)

// DefaultTimeout bounds a request when nothing is configured.
const DefaultTimeout = 10 * time.Second

// maxAnswer is how much of an answer is read.
const maxAnswer = 64 << 10

// writeBuffer is what is given to a connection at once: a usual request as a whole.
const writeBuffer = 256 << 10

// Options say where a Client sends, and how. Endpoint, Timeout and Now are required.
type Options struct {
	Endpoint string // host and port
	HTTP     bool   // else gRPC
	TLS      *TLS   // nil for plaintext
	Gzip     bool
	Timeout  time.Duration // of a request, with all that it needs
	Agent    string        // the name of the program, with its version
	Now      func() time.Time
	// Failed is told, from any goroutine, of a renewed certificate that cannot be used at
	// a handshake, where the one before is. Nil tells nobody.
	Failed func(err error)

	// Dial makes connections. Nil dials the endpoint, through a proxy where the
	// environment names one.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Client sends to one receiver. One goroutine at a time may use it.
type Client struct {
	o    Options
	wire exporter
}

// exporter is a Client for one protocol.
type exporter interface {
	// send returns what the receiver answers to a request that it took.
	send(ctx context.Context, r *otlp.Request) (answer []byte, err error)
	// use has new connections made with c, nil for plaintext.
	use(c *tls.Config)
	close() error
}

// New returns a client. It reads the files of its certificates and does not connect.
func New(o Options) (*Client, error) {
	c := &Client{o: o, wire: &grpcExporter{o: o}}
	if o.HTTP {
		c.wire = &httpExporter{o: o}
	}
	return c, c.Reload()
}

// Reload reads the files of its certificates again. After an error it uses those that
// it has.
func (c *Client) Reload() error {
	if c.o.TLS == nil {
		c.wire.use(nil)
		return nil
	}
	config, err := c.o.TLS.Load(c.o.Now, c.o.Failed)
	if err != nil {
		return err
	}
	c.wire.use(config)
	return nil
}

// Send exports the records of r. The error is nil, a *Failure or a *Partial.
func (c *Client) Send(ctx context.Context, r *otlp.Request) error {
	ctx, cancel := context.WithTimeout(ctx, c.o.Timeout)
	defer cancel()
	answer, err := c.wire.send(ctx, r)
	if err != nil {
		var f *Failure
		if errors.As(err, &f) && !f.permanent && errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return &Failure{text: fmt.Sprintf("%s: no answer within %s (%s)", c.o.Endpoint, c.o.Timeout, err), cause: err}
		}
		return err
	}
	if a, err := otlp.ParseAnswer(answer); err == nil && a.Rejected > 0 {
		return &Partial{Rejected: a.Rejected, Records: r.Len(), Message: told(a.Message)}
	}
	return nil // also with an answer that says nothing of value: the request was taken
}

// Close ends the connection.
func (c *Client) Close() error { return c.wire.close() }
