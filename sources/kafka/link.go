package kafka

import (
	"log/slog"
	"sync"
	"time"

	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
	"github.com/sluicehq/sluice/sources"
)

// link is what is known of the connections of a source with brokers.
type link struct {
	topic   string
	metrics *Metrics

	mu     sync.Mutex // guards the rest
	now    sources.Connection
	client *dial.Client // that tells; nil before there is one, and behind the end
}

// begin has changes told by client. No broker has answered it yet.
func (l *link) begin(client *dial.Client) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.client = client
	l.now.Since = time.Now()
	l.metrics.disconnected.Inc()
}

// up notes that a broker answers again.
func (l *link) up() { l.set(true) }

// down notes that the last connection broke.
func (l *link) down() { l.set(false) }

func (l *link) set(connected bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client == nil || l.now.Connected == connected {
		return
	}
	l.now.Connected, l.now.Since = connected, time.Now()
	if connected {
		l.metrics.disconnected.Dec()
		l.client.Tell(slog.LevelInfo, "a broker answers", "topic", l.topic)
		return
	}
	l.metrics.disconnected.Inc()
	l.metrics.disconnects.Inc()
	l.client.Tell(slog.LevelWarn, "no broker is connected: nothing is read", "topic", l.topic)
}

// failed notes why there is no connection, or nothing to be read.
func (l *link) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client != nil && err != nil {
		l.now.LastError = err.Error()
	}
}

// end has nothing told any more: connections are closed.
func (l *link) end() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client != nil && !l.now.Connected {
		l.metrics.disconnected.Dec()
	}
	l.client = nil
}

// Connection is how the source stands with the brokers. It is connected while one of them
// has answered on a connection that is open.
func (s *Source) Connection() sources.Connection {
	s.link.mu.Lock()
	defer s.link.mu.Unlock()
	return s.link.now
}
