package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
)

// session is how long the group waits for a member that died.
const session = 10 * time.Second

// leaveWait is how long a partition that is taken from us waits for what is in hand.
const leaveWait = 3 * time.Second

// join makes the client that reads as a member of the group.
func (s *Source) join() (*dial.Client, error) {
	start := kgo.NewOffset().AtStart()
	if s.o.Latest {
		start = kgo.NewOffset().AtEnd()
	}
	options := []kgo.Opt{
		kgo.ConsumerGroup(s.o.Group), kgo.Balancers(kgo.CooperativeStickyBalancer()), kgo.DisableAutoCommit(),
		kgo.OnPartitionsAssigned(s.assigned), kgo.OnPartitionsRevoked(s.revoked), kgo.OnPartitionsLost(s.lost),
		kgo.AdjustFetchOffsetsFn(s.begin), kgo.SessionTimeout(session), kgo.HeartbeatInterval(session / 5),
		kgo.ConsumeStartOffset(start), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.FetchMaxBytes(fetchBytes), kgo.MaxConcurrentFetches(fetches), kgo.MaxDecompressBatchBytes(decompressed),
	}
	if s.o.pool == nil {
		s.o.pool = new(records)
	}
	options = append(options, kgo.WithPools(s.o.pool))
	if s.o.Instance != "" {
		options = append(options, kgo.InstanceID(s.o.Instance))
	}
	if s.o.hook != nil {
		options = append(options, kgo.WithHooks(s.o.hook))
	}
	client, err := s.o.Dialer.New(s.brokers, clientID, dial.Events{Failed: s.link.failed, Up: s.link.up, Down: s.link.down}, options...)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.client = client
	s.mu.Unlock()
	s.link.begin(client)
	client.AddConsumeTopics(s.name)
	return client, nil
}

// assigned takes partitions over.
func (s *Source) assigned(_ context.Context, _ *kgo.Client, given map[string][]int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, number := range given[s.name] {
		p := s.partition(number)
		p.ours, p.leaving, p.uncommitted, p.end = true, false, uncommitted{next: -1, epoch: -1}, 0
	}
	s.o.Metrics.rebalances.Inc()
}

// begin learns where the group is. What it has committed never comes again. A group that
// begins with new messages commits where that is, so that a crash before its first
// commit loses none.
func (s *Source) begin(ctx context.Context, at map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	var fresh []int32
	s.mu.Lock()
	for number, offset := range at[s.name] {
		p := s.partition(number)
		if next := offset.EpochOffset(); next.Offset >= 0 {
			p.uncommitted.next, p.uncommitted.epoch = next.Offset, next.Epoch
			p.ledger.Passed(uint64(next.Offset))
		} else {
			fresh = append(fresh, number)
		}
	}
	client := s.client
	s.mu.Unlock()
	if len(fresh) == 0 {
		return at, nil
	}
	if !s.o.Latest {
		s.fresh(client.Starts(ctx, s.name, fresh))
		return at, nil
	}
	ends, err := client.Ends(ctx, s.name, fresh)
	if err != nil {
		return nil, err
	}
	offsets := make(map[int32]kgo.EpochOffset)
	for number, end := range ends {
		offsets[number] = kgo.EpochOffset{Epoch: -1, Offset: end}
	}
	if _, err := client.Commit(ctx, s.name, s.o.Group, offsets); err != nil {
		return nil, err
	}
	for number, end := range ends {
		at[s.name][number] = kgo.NewOffset().At(end)
	}
	s.fresh(ends, nil)
	return at, nil
}

// fresh notes where partitions begin of which nothing is committed. Where that is not
// known, it is where the first message stands.
func (s *Source) fresh(next map[int32]int64, _ error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for number, offset := range next {
		s.partition(number).uncommitted.next = offset
	}
}

// revoked gives partitions back: nothing more of them is handed over, what is in hand gets a
// moment, and what has ended is committed.
func (s *Source) revoked(ctx context.Context, _ *kgo.Client, taken map[string][]int32) {
	numbers := taken[s.name]
	if len(numbers) == 0 {
		return
	}
	s.mu.Lock()
	for _, number := range numbers {
		s.partition(number).leaving = true
	}
	if s.o.Snapshot && s.waiting(numbers) {
		signal(s.early) // a save is what they wait for
	}
	s.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, leaveWait)
	defer cancel()
	for {
		_ = s.commit(ctx) // what is not committed comes again
		s.mu.Lock()
		waiting := s.waiting(numbers)
		s.mu.Unlock()
		if !waiting {
			break
		}
		if !s.moment(ctx) {
			break
		}
	}
	s.forget(numbers)
}

// moment waits for something to become due, and reports whether it may go on waiting.
func (s *Source) moment(ctx context.Context) bool {
	select {
	case <-s.due:
		return true
	case <-time.After(commitPause):
		return true
	case <-ctx.Done():
	case <-s.life.Done():
	}
	return false
}

// waiting reports whether messages of partitions are not committed.
func (s *Source) waiting(numbers []int32) bool {
	for _, number := range numbers {
		if len(s.partition(number).uncommitted.entries) > 0 {
			return true
		}
	}
	return false
}

// lost notes that partitions are no longer ours. They may be another member's already, and
// nothing is committed.
func (s *Source) lost(_ context.Context, _ *kgo.Client, gone map[string][]int32) {
	s.commits.Lock() // the one in hand ends before
	defer s.commits.Unlock()
	s.forget(gone[s.name])
}

func (s *Source) forget(numbers []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, number := range numbers {
		p := s.partition(number)
		s.drop(p)
		p.ours = false
	}
}

// drop forgets what is pending of a partition, and its series.
func (s *Source) drop(p *partition) {
	n := len(p.uncommitted.entries)
	s.pending -= n
	p.uncommitted = uncommitted{next: -1, epoch: -1}
	s.o.Metrics.pending.Sub(float64(n))
	s.o.Metrics.drop(s.name, p.number)
	signal(s.freed)
}
