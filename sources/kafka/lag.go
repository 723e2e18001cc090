package kafka

import (
	"context"
	"log/slog"
	"strconv"
	"time"

	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
)

// measureEvery is how often the ends of partitions are asked for: a source that waits for
// room is not told them by what it reads.
const measureEvery = 10 * time.Second

// measure asks for the ends of our partitions until the source is to be closed.
func (s *Source) measure() {
	tick := time.NewTicker(measureEvery)
	defer tick.Stop()
	for {
		select {
		case <-s.life.Done():
			return
		case <-tick.C:
		}
		s.ends(s.life)
	}
}

func (s *Source) ends(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, measureEvery)
	defer cancel()
	var ours []int32
	s.mu.Lock()
	for number, p := range s.parts {
		if p.ours {
			ours = append(ours, number)
		}
	}
	s.mu.Unlock()
	if len(ours) == 0 {
		return
	}
	ends, err := s.client.Ends(ctx, s.name, ours)
	if err != nil && ctx.Err() == nil {
		s.client.Tell(slog.LevelInfo, "the lag is not known", "topic", s.name, "err", dial.Explain(err))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for number, end := range ends {
		if p := s.parts[number]; p != nil && p.ours {
			p.end = end
			s.count(p)
		}
	}
}

// count shows what is known of a partition in the series.
func (s *Source) count(p *partition) {
	if n := p.ledger.Returned(); n > p.covered {
		s.o.Metrics.covered.Add(float64(n - p.covered))
		p.covered = n
	}
	if p.ours && p.uncommitted.next >= 0 {
		s.o.Metrics.lag.WithLabelValues(s.name, strconv.Itoa(int(p.number))).Set(float64(max(0, p.end-p.uncommitted.next)))
	}
}
