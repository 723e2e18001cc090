package kafka

import (
	"context"
	"log/slog"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
)

const (
	commitPause = 100 * time.Millisecond // between two commits
	commitWait  = 10 * time.Second       // for an answer
)

// acknowledge commits what becomes due until the source is to be closed.
func (s *Source) acknowledge() {
	ctx := s.life
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.due:
		}
		pause := commitPause
		if err := s.commit(ctx); err != nil && ctx.Err() == nil {
			s.client.Tell(slog.LevelWarn, "committing failed", "group", s.o.Group, "err", dial.Explain(err))
			signal(s.due)
			pause = 10 * commitPause
		}
		if !wait(ctx, pause) {
			return
		}
	}
}

// commit commits the offsets of our partitions as far as they are due.
func (s *Source) commit(ctx context.Context) error {
	s.commits.Lock()
	defer s.commits.Unlock()
	s.mu.Lock()
	offsets, counts := s.offsets()
	s.mu.Unlock()
	if len(offsets) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, commitWait)
	defer cancel()
	done, err := s.client.Commit(ctx, s.name, s.o.Group, offsets)
	s.o.Metrics.committed(err)
	s.confirmed(done, counts)
	return err
}

// offsets are where the partitions may be committed, with the number of messages that
// come to be before it. s.mu is held.
func (s *Source) offsets() (offsets map[int32]kgo.EpochOffset, counts map[int32]int) {
	offsets, counts = make(map[int32]kgo.EpochOffset), make(map[int32]int)
	for number, p := range s.parts {
		s.acks = p.ledger.Acks(s.acks[:0])
		for _, a := range s.acks {
			if !p.uncommitted.end(int64(a.Sequence)-1) && p.ours {
				p.ledger.Confirmed(a.Sequence)
			}
		}
		if due := p.uncommitted.due(); p.ours && len(due) > 0 {
			last := due[len(due)-1]
			offsets[number], counts[number] = kgo.EpochOffset{Epoch: last.epoch, Offset: last.offset + 1}, len(due)
		}
	}
	return offsets, counts
}

// confirmed forgets what is committed.
func (s *Source) confirmed(done []int32, counts map[int32]int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, number := range done {
		p, n := s.parts[number], counts[number]
		if p == nil || n == 0 || n > len(p.uncommitted.entries) {
			continue // the topic was made anew meanwhile
		}
		for _, e := range p.uncommitted.entries[:n] {
			p.ledger.Confirmed(uint64(e.offset) + 1)
		}
		p.uncommitted.commit(n)
		s.pending -= n
		s.o.Metrics.pending.Sub(float64(n))
		s.count(p)
	}
	if len(done) > 0 {
		signal(s.freed)
	}
}
