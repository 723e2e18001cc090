package jetstream

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// How messages are asked for.
const (
	atOnce    = 200                    // messages of a pull request
	requests  = 2                      // pull requests at a time, so that the server need not wait for the next
	expiry    = 30 * time.Second       // of a pull request
	heartbeat = 5 * time.Second        // how often an idle server shows that it is there
	silence   = 3 * heartbeat          // after which it counts as gone
	maxBytes  = 8 << 20                // of the messages of a pull request, or one message
	spare     = 4096 - requests*atOnce // places for what the server says beside messages
)

// pulls are the pull requests of one subscription.
type pulls struct {
	conn    publisher
	subject string // of requests
	inbox   string // of messages
	limits  limits
	open    int  // messages asked for, and neither here nor refused
	huge    bool // the next message may be larger than maxBytes
}

// limits are what a consumer lets a pull request ask for.
type limits struct {
	messages, bytes int
	expiry          time.Duration
}

// publisher is the part of a connection that sends.
type publisher interface {
	PublishRequest(subject, reply string, data []byte) error
}

// more asks for messages when half of the requests are used up.
func (p *pulls) more() error {
	for p.open <= (requests-1)*p.limits.messages {
		request := []byte(`{"batch":`)
		request = strconv.AppendInt(request, int64(p.limits.messages), 10)
		request = append(request, `,"expires":`...)
		request = strconv.AppendInt(request, int64(p.limits.expiry), 10)
		request = append(request, `,"idle_heartbeat":`...)
		request = strconv.AppendInt(request, int64(min(heartbeat, p.limits.expiry/2)), 10)
		if !p.huge {
			request = append(request, `,"max_bytes":`...)
			request = strconv.AppendInt(request, int64(p.limits.bytes), 10)
		}
		request = append(request, '}')
		p.huge = false
		if err := p.conn.PublishRequest(p.subject, p.inbox, request); err != nil {
			return err
		}
		p.open += p.limits.messages
	}
	return nil
}

// errConsumer says that the server does not serve the consumer any more.
var errConsumer = errors.New("the server does not deliver")

// said takes what the server says instead of a message. It returns an error when it does
// not go on delivering.
func (p *pulls) said(m *nats.Msg) error {
	status, text := m.Header.Get("Status"), m.Header.Get("Description")
	left, err := strconv.Atoi(m.Header.Get("Nats-Pending-Messages"))
	ended := err == nil // a request
	if ended {
		p.open = max(0, p.open-left)
	}
	switch {
	case status == "100", status == "": // it is there, and nothing is
		return nil
	case status == "503":
		return fmt.Errorf("%w: nobody answers for the consumer (is it gone, or JetStream?)", errConsumer)
	case ended && strings.HasPrefix(text, "Message Size Exceeds"):
		p.huge = p.huge || left == p.limits.messages // it was the first one
		return nil
	case ended, status == "404", status == "408":
		return nil
	}
	return fmt.Errorf("%w: %s (%s)", errConsumer, text, status)
}

// backoff is how long to wait before looking for the consumer again.
type backoff struct{ next time.Duration }

const (
	backoffBase = 100 * time.Millisecond
	backoffCap  = 5 * time.Second
)

// grow returns the next pause, and makes the one behind it longer.
func (b *backoff) grow() time.Duration {
	pause := max(b.next, backoffBase)
	b.next = min(2*pause, backoffCap)
	return pause
}

// wait waits, each time longer. It reports whether ctx goes on.
func (b *backoff) wait(ctx context.Context) bool {
	timer := time.NewTimer(b.grow())
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
