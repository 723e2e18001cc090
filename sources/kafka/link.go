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
	heard  time.Time    // the last answer
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

// silence is how long no broker answers who is there: a member of a group asks more often.
const silence = 3 * session / 5

// up notes that a broker answers.
func (l *link) up() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.heard = time.Now()
	l.set(true)
}

// down notes that the last connection broke.
func (l *link) down() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.set(false)
}

// set notes how the connections stand. l.mu is held.
func (l *link) set(connected bool) {
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

// failed notes why there is no connection, or nothing to be read. Connections that nothing is
// asked on break unnoticed, so those that are left do not tell that a broker is there.
func (l *link) failed(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.client == nil || err == nil {
		return
	}
	l.now.LastError = err.Error()
	if time.Since(l.heard) > silence {
		l.set(false)
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
// answers.
func (s *Source) Connection() sources.Connection {
	s.link.mu.Lock()
	defer s.link.mu.Unlock()
	return s.link.now
}
