package dial

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/ratelog"
)

// How patient a client is.
const (
	dialWait    = 5 * time.Second // for a connection, its TLS and its login
	askWait     = 8 * time.Second // for an answer at the start
	requestWait = 10 * time.Second
	backoffBase = 100 * time.Millisecond
	backoffCap  = 5 * time.Second
	freshWait   = 250 * time.Millisecond // between two looks at who leads a partition
)

// Dialer makes the clients of a process. Log is required.
type Dialer struct {
	Config kafkaconn.Config
	Log    *slog.Logger
	// Dial makes a network connection; nil dials TCP.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Events are what the user of a client wants to know. They are called from goroutines
// of the client, and do not wait. Nil is not called.
type Events struct {
	Failed func(err error) // no connection to a broker, and why
	Lost   func()          // a connection broke

	// Up is called when a broker has answered what is no part of a login, Down when the last
	// connection is closed: one after another.
	Up, Down func()
}

// Client is a client of the brokers and one topic.
type Client struct {
	*kgo.Client
	log   *slog.Logger
	noisy ratelog.Limit
}

// New makes a client of the brokers under a name that they show, with the library's
// options beside those of the settings. It connects to nobody yet.
func (d Dialer) New(brokers []string, name string, e Events, options ...kgo.Opt) (*Client, error) {
	c := &Client{log: d.Log.With("brokers", brokers, "connection", name)}
	dial := d.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	if d.Config.Encrypted() {
		config, err := tlsOf(d.Config, func(err error) { c.Tell(slog.LevelWarn, certs.NotRenewed, "err", err) })
		if err != nil {
			return nil, err
		}
		dial = encrypted(dial, config)
	} else if d.Config.User != "" && d.Config.SASL == kafkaconn.Plain {
		c.Tell(slog.LevelWarn, "the password goes over the wire in clear text (--kafka-tls encrypts it, --kafka-sasl scram-sha-512 does not send it)")
	}
	options = append([]kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.ClientID(name), kgo.SoftwareNameAndVersion("sluice", "1"),
		kgo.DisableClientMetrics(),
		kgo.Dialer(func(ctx context.Context, network, address string) (net.Conn, error) {
			ctx, cancel := context.WithTimeout(ctx, dialWait)
			defer cancel()
			return dial(ctx, network, address)
		}),
		kgo.RetryBackoffFn(pause), kgo.RequestTimeoutOverhead(requestWait), kgo.MetadataMinAge(freshWait),
		kgo.WithLogger(told{c}), kgo.WithHooks(&hooks{client: c, events: e}),
	}, options...)
	if m := mechanism(d.Config); m != nil {
		options = append(options, kgo.SASL(m))
	}
	var err error
	c.Client, err = kgo.NewClient(options...)
	return c, err
}

// encrypted dials with TLS. Certificates are those of the host that was asked for.
func encrypted(dial func(context.Context, string, string) (net.Conn, error), config *tls.Config) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		config := config.Clone()
		config.ServerName = address
		if host, _, err := net.SplitHostPort(address); err == nil {
			config.ServerName = host
		}
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			_ = conn.Close()
			if ctx.Err() != nil { // it is not said to be of the library's own
				return nil, fmt.Errorf("no TLS handshake within %s: does the broker speak TLS on this port (--kafka-tls)?", dialWait)
			}
			return nil, err
		}
		return secure, nil
	}
}

// mechanism is how to log in; nil for nobody.
func mechanism(c kafkaconn.Config) sasl.Mechanism {
	switch {
	case c.User == "":
		return nil
	case c.SASL == kafkaconn.Plain:
		return plain.Auth{User: c.User, Pass: c.Password}.AsMechanism()
	case c.SASL == kafkaconn.ScramSHA256:
		return scram.Auth{User: c.User, Pass: c.Password}.AsSha256Mechanism()
	}
	return scram.Auth{User: c.User, Pass: c.Password}.AsSha512Mechanism()
}

// pause is the wait before another attempt.
func pause(failures int) time.Duration {
	wait := backoffCap
	if failures < 8 {
		wait = min(backoffCap, backoffBase<<max(0, failures-1))
	}
	return time.Duration((0.8 + 0.4*rand.Float64()) * float64(wait))
}
