package fetch

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"

	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/internal/natsconn"
)

// AtOnce is how many fetches run at a time, in the daemon and in commands.
const AtOnce = 8

// Options are what clients are made with. Log is required.
type Options struct {
	Policy  egress.Policy
	NATS    natsconn.Client // how to log in to servers
	Version string          // of the program, which it tells servers
	// Getenv looks up a variable of the environment; nil is os.LookupEnv.
	Getenv func(name string) (string, bool)
	Log    *slog.Logger
	// Resolver resolves names of HTTP; nil is that of the system.
	Resolver egress.Resolver
	// DialNATS makes network connections to NATS servers; nil dials TCP.
	DialNATS func(ctx context.Context, network, address string) (net.Conn, error)
}

// maxRedirects are followed in a row.
const maxRedirects = 10

// Client fetches. Any number of goroutines may use it at once.
type Client struct {
	options Options
	http    *http.Client
	log     *slog.Logger

	mu     sync.Mutex // guards warned
	warned map[string]bool
}

// New returns a client. It keeps connections until it is closed.
func New(o Options) *Client {
	agent := "sluice"
	if o.Version != "" {
		agent += "/" + o.Version
	}
	if o.Getenv == nil {
		o.Getenv = os.LookupEnv
	}
	return &Client{
		options: o, log: o.Log, warned: make(map[string]bool),
		http: egress.NewClient(egress.Options{Policy: o.Policy, UserAgent: agent, Redirects: maxRedirects, Resolver: o.Resolver}),
	}
}

// Close gives idle connections back.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Validators tell a server which state of a value is known.
type Validators struct{ ETag, LastModified string }

// Value is what was fetched.
type Value struct {
	JSON []byte // compact; nil with NotModified and Pending
	// NotModified says that the value is the one whose validators were given.
	NotModified bool
	// Pending says that a source of Push has no message yet. It is a success.
	Pending bool
	// Validators are those of the value; empty if there are none.
	Validators Validators
}

// Fetch fetches a value within the timeout of its declaration. known, which may be nil, are
// the validators of the value that the caller has. The error is an *Error.
func (c *Client) Fetch(ctx context.Context, d *Declaration, known *Validators) (Value, error) {
	within := d.Timeout
	if d.Type == NATS {
		within *= 2 // for the connection, and for the message
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	v, err := c.fetch(ctx, d, known)
	if err != nil {
		return Value{}, of(ctx, d.ID, err)
	}
	return v, nil
}

func (c *Client) fetch(ctx context.Context, d *Declaration, known *Validators) (v Value, err error) {
	var data []byte
	switch d.Type {
	case File:
		data, err = c.file(d)
	case HTTP:
		data, v, err = c.request(ctx, d, known)
	case Command:
		data, err = c.command(ctx, d)
	case NATS:
		var p payload
		if p, v.Pending, err = c.message(ctx, d); err == nil && !v.Pending {
			v.JSON, err = d.received(ctx, p)
		}
		return v, err
	default:
		err = fault(Fetch, "unknown type '%s'", d.Type)
	}
	if err != nil || v.NotModified {
		return v, err
	}
	v.JSON, err = d.value(ctx, data)
	return v, err
}

// value is what bytes mean. The error is an *Error, or that of ctx.
func (d *Declaration) value(ctx context.Context, data []byte) ([]byte, error) {
	value, err := Decode(d.Format, data)
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && d.Extract != nil {
		value, err = d.Extract.run(ctx, value)
	}
	return value, err
}

// received is what a message means.
func (d *Declaration) received(ctx context.Context, p payload) ([]byte, error) {
	if p.tooLarge {
		return nil, fault(ResourceLimit, "message exceeds %d byte limit", maxPayload)
	}
	return d.value(ctx, p.data)
}

// environment is a variable. That it is not set is told once.
func (c *Client) environment(d *Declaration, name string) string {
	value, ok := c.options.Getenv(name)
	if ok {
		return value
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.warned[name] {
		c.warned[name] = true
		c.log.Warn("a variable of the environment is not set and counts as empty", "source", d.ID, "variable", name)
	}
	return ""
}
