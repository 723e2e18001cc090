package syslog

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/sources"
)

// receiveBuffer is what is asked of the system for datagrams that wait to be read. It may
// give less: net.core.rmem_max is the bound of Linux.
const receiveBuffer = 8 << 20

// datagrams reads one socket.
type datagrams struct {
	socket   sources.Datagrams
	close    func() error // ends reading
	messages prometheus.Counter
}

// newDatagrams returns a source of what comes to c.
func newDatagrams(c *net.UDPConn, drops *drops, messages prometheus.Counter) *datagrams {
	drops.follow(c)
	return &datagrams{newSocket(c), sync.OnceValue(func() error { drops.leave(c); return c.Close() }), messages}
}

func (s *datagrams) Run(ctx context.Context, in sources.Intake) error {
	defer func() { _ = s.Close() }()
	release := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer release()
	reader := &counting{Reader: new(sources.Buffers).NewDatagramReader(s.socket), messages: s.messages}
	pump := sources.Pump{Intake: in}
	_, err := pump.Run(ctx, reader)
	var broken *sources.ReadError
	if errors.As(err, &broken) && ctx.Err() == nil {
		return broken
	}
	return nil
}

func (s *datagrams) Close() error { return s.close() }

// counting counts the messages of a reader.
type counting struct {
	sources.Reader
	messages prometheus.Counter
}

func (c *counting) Next(dst []sources.Text) ([]sources.Text, error) {
	before := len(dst)
	dst, err := c.Reader.Next(dst)
	if n := len(dst) - before; n > 0 {
		c.messages.Add(float64(n))
	}
	return dst, err
}

// countingPauses is counting of a stream that pauses.
type countingPauses struct {
	counting
	rest func() bool
}

func (c *countingPauses) Rest() bool { return c.rest() }

// closed makes the end of a stream of a socket that was closed.
func closed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return io.EOF
	}
	return err
}
