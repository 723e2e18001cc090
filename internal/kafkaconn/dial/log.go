package dial

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Tell logs a condition that may repeat, at most once in ten seconds.
func (c *Client) Tell(level slog.Level, message string, attrs ...any) {
	if held, ok := c.noisy.Allow(message, 1, time.Now()); ok {
		if held > 0 {
			attrs = append(attrs, "suppressed", held)
		}
		c.log.Log(context.Background(), level, message, attrs...)
	}
}

// told gives the library's own log what needs an eye: errors, as hooks and answers tell
// the rest. Its messages name requests and brokers, never their contents.
type told struct{ client *Client }

// Level is the least severe one that is wanted.
func (told) Level() kgo.LogLevel { return kgo.LogLevelError }

// Log logs a message of the library.
func (t told) Log(level kgo.LogLevel, message string, attrs ...any) {
	if level == kgo.LogLevelError {
		t.client.Tell(slog.LevelWarn, message, attrs...)
	}
}

// hooks log what becomes of connections.
type hooks struct {
	client *Client
	events Events

	mu   sync.Mutex // guards open
	open int        // connections
}

// OnBrokerConnect is told of each attempt to connect.
func (h *hooks) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	address := net.JoinHostPort(meta.Host, itoa(meta.Port))
	if err != nil {
		err = Explain(err)
		h.client.Tell(slog.LevelWarn, "connecting failed", "broker", address, "err", err)
		if h.events.Failed != nil {
			h.events.Failed(err)
		}
		return
	}
	h.mu.Lock()
	h.open++
	first := h.open == 1
	h.mu.Unlock()
	if first {
		h.client.Tell(slog.LevelInfo, "connected", "broker", address)
	}
}

// OnBrokerDisconnect is told of each connection that is closed.
func (h *hooks) OnBrokerDisconnect(kgo.BrokerMetadata, net.Conn) {
	h.mu.Lock()
	h.open--
	last := h.open == 0
	if last && h.events.Down != nil {
		h.events.Down()
	}
	h.mu.Unlock()
	if last {
		h.client.Tell(slog.LevelInfo, "disconnected")
	}
	if h.events.Lost != nil {
		h.events.Lost()
	}
}

// OnBrokerRead is told of each answer. Those to the questions of a login come from brokers,
// too, that refuse it. An answer may be told of behind the end of its connection.
func (h *hooks) OnBrokerRead(_ kgo.BrokerMetadata, key int16, _ int, _, _ time.Duration, err error) {
	if err != nil || h.events.Up == nil || key == kmsg.ApiVersions.Int16() || key == kmsg.SASLHandshake.Int16() || key == kmsg.SASLAuthenticate.Int16() {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.open > 0 {
		h.events.Up()
	}
}
