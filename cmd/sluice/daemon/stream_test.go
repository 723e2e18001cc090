package daemon

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"
)

// StreamOptions say how a Stream behaves.
type StreamOptions struct {
	Pending int           // unacknowledged messages at most; beyond that nothing new is delivered
	AckWait time.Duration // after which a message is delivered again; 0 for never while connected
	Shuffle *rand.Rand    // delivers in any order; nil for the oldest first
	OnAck   func(acks int)
}

// Stream is a stream of messages with one consumer, as a message bus keeps them: it
// delivers a message until it is acknowledged. Its sequences have gaps. Of several
// connections only the newest is served.
type Stream struct {
	o StreamOptions

	mu      sync.Mutex // guards the rest
	changed chan struct{}
	all     []*stored
	client  net.Conn
	deaf    bool     // acknowledgements do not arrive
	mute    bool     // they arrive, and nobody is told
	confirm []uint64 // to be told
	acks    int      // that arrived
}

type stored struct {
	sequence uint64
	payload  string
	out      bool      // delivered, and not to be delivered again before expires
	expires  time.Time // zero for never
	delivers int
	acks     int
}

// NewStream returns an empty stream.
func NewStream(o StreamOptions) *Stream { return &Stream{o: o, changed: make(chan struct{})} }

// Published is the time of publication of a sequence.
func Published(sequence uint64) int64 { return 1_700_000_000 + int64(sequence) }

// Publish appends messages.
func (s *Stream) Publish(payloads ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range payloads {
		n := uint64(len(s.all))
		s.all = append(s.all, &stored{sequence: 1 + n + n/2, payload: p})
	}
	s.wake()
}

// LoseAcks has acknowledgements get lost on their way, or their confirmations.
func (s *Stream) LoseAcks(acks, confirmations bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.deaf, s.mute = acks, confirmations
}

// Acks returns how often each message was acknowledged, and Deliveries how often it
// was delivered, in the order of publication.
func (s *Stream) Acks() []int { return s.figures(func(m *stored) int { return m.acks }) }

// Deliveries is how often each message was delivered.
func (s *Stream) Deliveries() []int { return s.figures(func(m *stored) int { return m.delivers }) }

func (s *Stream) figures(of func(*stored) int) (n []int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.all {
		n = append(n, of(m))
	}
	return n
}

// Serve serves a connection until it ends, or another one begins. What the one
// before had not acknowledged is delivered again.
func (s *Stream) Serve(conn net.Conn) {
	s.mu.Lock()
	if s.client != nil {
		_ = s.client.Close()
	}
	s.client, s.confirm = conn, nil
	for _, m := range s.all {
		m.out = false
	}
	s.mu.Unlock()
	defer conn.Close()
	ended := make(chan struct{})
	go s.deliver(conn, ended)
	defer close(ended)
	defer s.leave(conn)
	in := bufio.NewReader(conn)
	for {
		var verb string
		var sequence uint64
		if _, err := fmt.Fscanln(in, &verb, &sequence); err != nil {
			return
		}
		s.take(conn, verb, sequence)
	}
}

// leave ends the service of a connection, unless another one has begun.
func (s *Stream) leave(conn net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == conn {
		s.client = nil
	}
}

// take handles what a client says of a message.
func (s *Stream) take(conn net.Conn, verb string, sequence uint64) {
	s.mu.Lock()
	i := slices.IndexFunc(s.all, func(m *stored) bool { return m.sequence == sequence })
	if s.client != conn || i < 0 || verb == verbAck && s.deaf {
		s.mu.Unlock()
		return
	}
	acks := 0
	switch m := s.all[i]; verb {
	case verbProgress:
		m.expires = s.expiry()
	case verbAck:
		m.acks++
		if !s.mute {
			s.confirm = append(s.confirm, sequence)
		}
		s.acks++
		acks = s.acks
	}
	s.wake()
	s.mu.Unlock()
	if acks > 0 && s.o.OnAck != nil {
		s.o.OnAck(acks)
	}
}

// deliver writes messages and confirmations.
func (s *Stream) deliver(conn net.Conn, ended <-chan struct{}) {
	for {
		s.mu.Lock()
		if s.client != conn { // what comes next is the other connection's
			s.mu.Unlock()
			return
		}
		text, wait := s.next()
		changed := s.changed
		s.mu.Unlock()
		if text != "" {
			if _, err := conn.Write([]byte(text)); err != nil {
				return
			}
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-changed:
		case <-timer.C:
		case <-ended:
			return
		}
		timer.Stop()
	}
}

// next is what to write next, or how long there is nothing to write.
func (s *Stream) next() (text string, wait time.Duration) {
	if len(s.confirm) > 0 {
		text = fmt.Sprintln(verbConfirm, s.confirm[0])
		s.confirm = s.confirm[1:]
		return text, 0
	}
	wait = time.Hour
	open := 0 // delivered and not acknowledged
	for _, m := range s.all {
		if m.delivers > 0 && m.acks == 0 {
			open++
		}
	}
	var ready []*stored
	for _, m := range s.all {
		switch {
		case m.acks > 0:
		case m.out && m.expires.IsZero():
		case m.out && time.Until(m.expires) > 0:
			wait = min(wait, time.Until(m.expires))
		case m.delivers > 0:
			ready = append(ready, m)
		case open < s.o.Pending:
			open++
			ready = append(ready, m)
		}
	}
	if len(ready) == 0 {
		return "", wait
	}
	m := ready[0]
	if s.o.Shuffle != nil {
		m = ready[s.o.Shuffle.IntN(len(ready))]
	}
	m.out, m.expires = true, s.expiry()
	m.delivers++
	return fmt.Sprintln(verbMessage, m.sequence, base64.StdEncoding.EncodeToString([]byte(m.payload))), 0
}

func (s *Stream) expiry() time.Time {
	if s.o.AckWait == 0 {
		return time.Time{}
	}
	return time.Now().Add(s.o.AckWait)
}

func (s *Stream) wake() {
	close(s.changed)
	s.changed = make(chan struct{})
}
