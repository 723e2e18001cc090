package dial

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/ratelog"
)

// How patient a connection is.
const (
	dialWait    = 5 * time.Second        // for a connection, and for the server's greeting
	writeWait   = 5 * time.Second        // for a server that does not read
	closeWait   = 800 * time.Millisecond // for the server to have taken everything at the end
	pingEvery   = 10 * time.Second
	pingsMissed = 2
	backoffBase = 100 * time.Millisecond
	backoffCap  = 5 * time.Second
)

// writeBuffer is how many bytes of small messages are gathered before they are written, if
// nothing asks for them earlier.
const writeBuffer = 256 << 10

// Dialer makes the connections of a process. Log is required.
type Dialer struct {
	Config natsconn.Config
	Log    *slog.Logger
	// Dial makes a network connection; nil dials TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Events are what the user of a connection wants to know. They are called one after
// another, from a goroutine of the connection, and do not wait. Nil is not called.
type Events struct {
	Lost    func()          // the connection broke
	Refused func(err error) // the server refused something, such as a subject
}

// Conn is a connection to a server, or its successor after a break.
type Conn struct {
	*nats.Conn
	server string
	link   *link
	up     atomic.Bool
	tried  chan struct{} // holds a token when an attempt to reconnect has ended
	events Events
	log    *slog.Logger
	noisy  ratelog.Limit
	asking atomic.Pointer[context.CancelCauseFunc] // ends the request in hand, nil without one
}

// Connect connects to server, "nats://host:port", under a name that the server shows.
func (d Dialer) Connect(server, name string, e Events) (*Conn, error) {
	c := &Conn{
		server: server, link: &link{dial: d.Dial}, events: e, tried: make(chan struct{}, 1),
		log: d.Log.With("server", server, "connection", name),
	}
	o, err := d.options(c, name)
	if err != nil {
		return nil, err
	}
	c.up.Store(true) // it may be lost before Connect returns
	c.Conn, err = o.Connect()
	if errors.Is(err, nats.ErrSecureConnWanted) && !d.Config.RequireTLS {
		o.Secure = false
		if c.Conn, err = o.Connect(); err == nil {
			c.log.Warn("the server has no TLS: the connection is not encrypted (--nats-require-tls refuses such servers)")
		}
	}
	if err != nil {
		return nil, fmt.Errorf("connect to %s: %w", server, d.explain(err, c.link))
	}
	c.log.Info("connected")
	return c, nil
}

// options are the settings of the client library.
func (d Dialer) options(c *Conn, name string) (o nats.Options, err error) {
	o = nats.GetDefaultOptions()
	o.Url, o.Name, o.CustomDialer = c.server, name, c.link
	o.SkipHostLookup = true        // the link resolves names, which can be given up
	o.SkipSubjectValidation = true // who publishes has called natsconn.Concrete
	o.WriteBufferSize = writeBuffer
	o.Timeout, o.FlusherTimeout = dialWait, writeWait
	o.PingInterval, o.MaxPingsOut = pingEvery, pingsMissed
	o.MaxReconnect, o.CustomReconnectDelayCB = -1, pause
	o.IgnoreAuthErrorAbort = true // credentials may be mended
	o.ReconnectBufSize = -1       // what is published while there is no connection fails at once
	o.DisconnectedErrCB = c.lost
	o.ReconnectedCB = c.back
	o.ReconnectErrCB = func(_ *nats.Conn, err error) {
		c.tell(slog.LevelWarn, "reconnecting failed", "err", d.explain(err, c.link))
		c.attempted()
	}
	o.AsyncErrorCB = c.refused
	if d.Config.RequireTLS || d.Config.TLSCA != "" || d.Config.TLSCert != "" {
		o.Secure = true
		if o.TLSConfig, err = tlsOf(d.Config, c.stale); err != nil {
			return o, err
		}
	}
	return o, login(d.Config, &o)
}

// pause is the wait before another attempt to reconnect.
func pause(attempts int) time.Duration {
	wait := backoffCap
	if attempts < 8 {
		wait = min(backoffCap, backoffBase<<max(0, attempts-1))
	}
	return time.Duration((0.8 + 0.4*rand.Float64()) * float64(wait))
}

// explain says what the library leaves out: what failed, and which flag may mend it.
func (d Dialer) explain(err error, l *link) error {
	var unknown x509.UnknownAuthorityError
	var slow net.Error
	cause := l.failure()
	switch {
	case errors.Is(err, nats.ErrNoServers) && cause != nil:
		return cause
	case errors.Is(err, nats.ErrSecureConnWanted):
		return errors.New("the server has no TLS, which --nats-require-tls demands")
	case errors.Is(err, nats.ErrAuthorization):
		return fmt.Errorf("%w (--nats-creds, --nats-nkey, --nats-token, or --nats-user with --nats-password log in)", err)
	case errors.As(err, &unknown):
		return fmt.Errorf("%w (--nats-tls-ca names further roots)", err)
	case strings.Contains(err.Error(), "certificate required"), strings.Contains(err.Error(), "after TLS handshake"):
		return fmt.Errorf("%w (does the server demand another client certificate? --nats-tls-cert and --nats-tls-key give it)", err)
	case errors.Is(err, nats.ErrNoInfoReceived), errors.As(err, &slow) && slow.Timeout():
		return fmt.Errorf("nobody answers as a NATS server does: is the port right, that of its clients? (%w)", err)
	}
	return err
}

// stale tells of a renewed certificate that cannot be used.
func (c *Conn) stale(err error) {
	c.tell(slog.LevelWarn, certs.NotRenewed, "err", err)
}

func (c *Conn) lost(nc *nats.Conn, err error) {
	c.up.Store(false)
	if nc.IsClosed() {
		return
	}
	c.tell(slog.LevelInfo, "disconnected", "err", err)
	if c.events.Lost != nil {
		c.events.Lost()
	}
}

func (c *Conn) back(*nats.Conn) {
	c.up.Store(true)
	c.tell(slog.LevelInfo, "reconnected")
	c.attempted()
}

func (c *Conn) attempted() {
	select {
	case c.tried <- struct{}{}:
	default:
	}
}

// Ready returns nil while there is a connection. Else it does not leave it at the
// pauses of the connection: it has one attempt to reconnect made now, and says how it
// ended. It is for one goroutine.
func (c *Conn) Ready(ctx context.Context) error {
	if c.Up() {
		return nil
	}
	stop := context.AfterFunc(ctx, c.Cut) // the library dials with its lock held
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, dialWait)
	defer cancel()
	select {
	case <-c.tried: // that was before
	default:
	}
	if !c.IsConnected() {
		_ = c.ForceReconnect() // of a connection that is closed
		select {
		case <-c.tried:
		case <-ctx.Done():
		}
	}
	if c.Up() || c.IsConnected() {
		return nil
	}
	if err := c.link.failure(); err != nil {
		return fmt.Errorf("no connection to %s: %w", c.server, err)
	}
	return fmt.Errorf("no connection to %s", c.server)
}

func (c *Conn) refused(_ *nats.Conn, _ *nats.Subscription, err error) {
	c.tell(slog.LevelWarn, "the server reports an error", "err", err)
	if end := c.asking.Load(); end != nil && errors.Is(err, nats.ErrPermissionViolation) {
		(*end)(err)
	}
	if c.events.Refused != nil {
		c.events.Refused(err)
	}
}

// tell logs a condition that may repeat, at most once in ten seconds.
func (c *Conn) tell(level slog.Level, message string, attrs ...any) {
	if kept, ok := c.noisy.Allow(message, 1, time.Now()); ok {
		if kept > 0 {
			attrs = append(attrs, "suppressed", kept)
		}
		c.log.Log(context.Background(), level, message, attrs...)
	}
}

// Server is what the connection leads to.
func (c *Conn) Server() string { return c.server }

// Up reports whether there is a connection at the moment. It does not wait for one
// that is just being made.
func (c *Conn) Up() bool { return c.up.Load() }

// Cut breaks the network connection, so that what waits for the server fails. The
// connection is made again.
func (c *Conn) Cut() { c.link.cut(false) }

// Close waits a moment until the server has taken what was published, and closes the
// connection within a second, whatever the server does. A server that does not answer is
// told in the log and is no error: what nobody acknowledged counts as not delivered.
func (c *Conn) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeWait)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { c.link.cut(true) })
	defer stop()
	if c.Up() {
		if err := c.FlushWithContext(ctx); err != nil { // what it has not acknowledged is accounted for elsewhere
			c.tell(slog.LevelInfo, "closed without an answer of the server", "err", err)
		}
	} else {
		c.link.cut(true) // it may be dialling
	}
	c.Conn.Close()
	return nil
}
