package syslog

import (
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/clip"
	"github.com/sluicehq/sluice/internal/ratelog"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/accept"
)

// patience is how long a message may pause before its end.
const patience = time.Minute

// Options are what an input is opened with.
type Options struct {
	Config      Config
	Log         *slog.Logger
	Metrics     *Metrics
	Connections *accept.Metrics
}

// Source reads what is sent to one address.
type Source struct {
	source
	addr net.Addr
}

// source is one of the transports.
type source interface {
	sources.Source
	Close() error // for a source that never runs
}

// Addr is the bound address, with the real port.
func (s *Source) Addr() net.Addr { return s.addr }

// Check reports a target that is no host and port. Without a host it stands for every
// address of this machine.
func Check(target string) error {
	_, port, err := net.SplitHostPort(target)
	if err != nil {
		return errors.New("the address must be host:port, such as 127.0.0.1:514, or :514 for every address of this machine")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || strconv.FormatUint(n, 10) != port {
		return fmt.Errorf("the port %q must be a number up to 65535", port)
	}
	return nil
}

// Listen binds an address. Senders wait until Run is called.
func Listen(t Transport, address string, o Options) (*Source, error) {
	if err := Check(address); err != nil {
		return nil, err
	}
	var s *Source
	var err error
	if t == UDP {
		s, err = listenUDP(address, o)
	} else {
		s, err = listenStream(t, address, o)
	}
	if err != nil {
		return nil, err
	}
	o.Log.Info("listening for events", "source", "syslog+"+string(t)+"://"+s.addr.String())
	return s, nil
}

func listenUDP(address string, o Options) (*Source, error) {
	at, err := net.ResolveUDPAddr("udp", address)
	if err != nil {
		return nil, err
	}
	network := "udp" // [::] serves both families
	if at.IP.To4() != nil {
		network = "udp4" // 0.0.0.0 means what it says
	}
	c, err := net.ListenUDP(network, at)
	if err != nil {
		return nil, err
	}
	if err := c.SetReadBuffer(receiveBuffer); err != nil {
		o.Log.Warn("the system gives no larger buffer for datagrams", "source", UDP.Name(), "err", err)
	}
	return &Source{newDatagrams(c, &o.Metrics.drops, o.Metrics.messages.WithLabelValues(string(UDP))), c.LocalAddr()}, nil
}

func listenStream(t Transport, address string, o Options) (*Source, error) {
	options := accept.Options{
		Name: t.Name(), Max: o.Config.MaxConnections, Log: o.Log, Counters: o.Connections.Of(t.Name()),
		Reader: o.reader(t), Patience: patience,
	}
	if t == TLS {
		h, err := newHandshakes(o)
		if err != nil {
			return nil, err
		}
		options.Secure = h.shake
	}
	at, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, err
	}
	network := "tcp"
	if at.IP.To4() != nil {
		network = "tcp4"
	}
	l, err := net.Listen(network, at.String()) // keep-alive probes end what is dead
	if err != nil {
		return nil, err
	}
	return &Source{accept.New(l, options), l.Addr()}, nil
}

// reader makes the readers of connections, which count.
func (o Options) reader(t Transport) func(sources.Pausing) sources.PausingReader {
	buffers, messages := new(sources.Buffers), o.Metrics.messages.WithLabelValues(string(t))
	limit := new(ratelog.Limit)
	fault := func(err error) {
		reason := faults[err]
		if held, ok := limit.Allow(reason, 1, time.Now()); ok {
			attrs := []any{"source", t.Name(), "err", err, "suppressed", held}
			if err == sources.ErrTLS { //nolint:errorlint // readers tell it bare
				attrs = append(attrs, "hint", "have the sender use no TLS, or take it with an input syslog+tls://")
			}
			o.Log.Warn("syslog framing is wrong", attrs...)
		}
		o.Metrics.faults.WithLabelValues(reason).Inc()
	}
	return func(s sources.Pausing) sources.PausingReader {
		r := buffers.NewOctetReader(s, fault)
		return &countingPauses{counting{r, messages}, r.Rest}
	}
}

// handshakes makes the TLS of connections.
type handshakes struct {
	serving *certs.Serving
	o       Options
	limit   ratelog.Limit
}

const maxReason = 256 // bytes of what a failed handshake is told with

func newHandshakes(o Options) (*handshakes, error) {
	if o.Config.TLS.Cert == "" {
		return nil, errNoCertificate
	}
	h := &handshakes{o: o}
	var err error
	h.serving, err = certs.NewServing(o.Config.TLS.files(), func(err error) {
		if _, ok := h.limit.Allow("renew", 1, time.Now()); ok {
			o.Log.Error("certificate of syslog inputs not renewed, the one before stays in use", "err", err)
		}
	})
	if err != nil {
		return nil, fmt.Errorf("initialize TLS: %w", err)
	}
	if err := certs.Current(h.serving.Config().Certificates[0].Leaf, time.Now()); err != nil {
		o.Log.Warn("senders of syslog will refuse the certificate", "path", o.Config.TLS.Cert, "err", err)
	}
	return h, nil
}

// shake makes the handshake of a connection.
func (h *handshakes) shake(raw net.Conn) (net.Conn, error) {
	c := tls.Server(raw, h.serving.Config())
	_ = c.SetDeadline(time.Now().Add(certs.HandshakeTimeout)) // fails with the handshake
	err := c.Handshake()
	if err == nil {
		_ = c.SetDeadline(time.Time{})
		return c, nil
	}
	f := certs.Diagnose(err, "the input")
	if held, ok := h.limit.Allow(f.Reason, 1, time.Now()); ok {
		h.o.Log.Warn("TLS handshake failed", "source", TLS.Name(), "peer", raw.RemoteAddr().String(), "reason", f.Reason,
			"err", clip.Text(f.Text, maxReason), "suppressed", held)
	}
	h.o.Metrics.handshakes.WithLabelValues(f.Reason).Inc()
	return nil, err
}
