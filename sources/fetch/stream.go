//go:build !no_nats

package fetch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/sluicehq/sluice/internal/ratelog"
)

const passedOver = "messages come faster than they are read: those before a newer value are passed over"

// stream reads the messages of a source of Push. They are read in order as long as there
// is room for those that wait. One that finds no room is read when it arrives: if it is a
// value, those that wait are passed over; if not, they go on waiting. So no message makes
// way for one that is no value, and a storm of values costs a few readings.
type stream struct {
	ctx     context.Context
	d       *Declaration
	log     *slog.Logger
	waiting *backlog
	told    ratelog.Limit

	mu     sync.Mutex // guards the rest
	came   Pushed     // since it was handed over
	newest uint64     // number of the newest message that is a value
}

// arrive takes a message, or reads it.
func (s *stream) arrive(p payload) {
	if m, ok := s.waiting.put(p); !ok {
		s.read(m)
		wake(s.waiting.some)
	}
}

// lose counts messages that were lost before they arrived here.
func (s *stream) lose(messages int) {
	err := fault(ResourceLimit, "messages come faster than they can be read")
	err.Source = s.d.ID
	s.mu.Lock()
	s.came.fail(err, messages)
	s.mu.Unlock()
	wake(s.waiting.some)
}

// read reads a message within the time of the source.
func (s *stream) read(m message) {
	within, cancel := context.WithTimeout(s.ctx, s.d.Timeout)
	defer cancel()
	value, err := s.d.received(within, m.payload)
	if s.ctx.Err() != nil {
		return
	}
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.came.fail(of(within, s.d.ID, err), 1)
		return
	}
	passed := s.waiting.pass(m.number)
	s.mu.Lock()
	s.came.Values += 1 + passed
	if m.number > s.newest {
		s.came.JSON, s.newest = value, m.number
	}
	s.mu.Unlock()
	if passed == 0 {
		return
	}
	if held, ok := s.told.Allow("", passed, time.Now()); ok {
		s.log.Warn(passedOver, "messages", held+passed)
	}
}

// hand hands over what came, if anything did.
func (s *stream) hand(take func(Pushed)) {
	s.mu.Lock()
	came := s.came
	s.came = Pushed{}
	s.mu.Unlock()
	if came.Messages() > 0 {
		take(came)
	}
}

// run reads what waits until the end, and hands over what came of it.
func (s *stream) run(take func(Pushed)) {
	s.waiting.each(s.ctx, func(m message) {
		s.read(m)
		s.hand(take)
	}, func() { s.hand(take) })
	if held := s.told.Rest(""); held > 0 {
		s.log.Warn(passedOver, "messages", held)
	}
}

// fail counts messages that are no values.
func (p *Pushed) fail(err *Error, messages int) {
	if p.Failed == nil {
		p.Failed = make(map[ErrorKind]int)
	}
	p.Failed[err.Kind] += messages
	p.Err = err
}
