package kafka

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
	"github.com/sluicehq/sluice/sources"
)

const (
	clientID     = "sluice"
	maxRun       = 512                    // messages that are handed over at once
	fetchBytes   = 16 << 20               // of one answer of a broker
	fetches      = 4                      // answers that are held at a time
	decompressed = 64 << 20               // of a batch
	retryFirst   = 100 * time.Millisecond // after an error
	retryMost    = 5 * time.Second
)

// Source reads one topic. Run and Close are called once.
type Source struct {
	o       Options
	name    string // of the topic
	brokers []string
	early   chan struct{}
	due     chan struct{}   // holds a token when a ledger has an acknowledgement
	freed   chan struct{}   // holds a token when fewer messages are pending
	life    context.Context // ends when Close is called
	die     context.CancelFunc
	work    sync.WaitGroup

	all     []arrival    // Run's
	run     []graph.Line // Run's
	buffers sources.Buffers
	link    link

	commits sync.Mutex // held while offsets are committed

	mu       sync.Mutex // guards the rest
	topic    dial.Topic
	client   *dial.Client // nil before Run
	parts    map[int32]*partition
	pending  int  // messages uncommitted, of partitions that are ours
	asked    bool // for a save, since the last one
	restored restored
	acks     []sources.Ack[struct{}] // memory
}

func newSource(o Options, brokers []string, topic dial.Topic) *Source {
	s := &Source{
		o: o, name: topic.Name, brokers: brokers, topic: topic,
		early: make(chan struct{}, 1), due: make(chan struct{}, 1), freed: make(chan struct{}, 1),
		parts: make(map[int32]*partition),
		link:  link{topic: topic.Name, metrics: o.Metrics},
	}
	s.life, s.die = context.WithCancel(context.Background())
	return s
}

// partition is one that is or was ours. What is guarded by Source.mu.
type partition struct {
	number      int32
	ledger      *sources.Ledger[struct{}]
	ours        bool // it is assigned to us
	leaving     bool // it is about to be taken from us: nothing more of it is handed over
	uncommitted uncommitted
	end         int64 // behind the last message, as far as it is known
	covered     int   // messages that came again, as far as they are counted
}

// stream names a partition for positions and covered messages: no other topic, also one of
// the same name that is made later, has the name.
func (s *Source) stream(number int32) string {
	id := s.topic.Cluster
	if s.topic.ID != [16]byte{} {
		id = base64.RawURLEncoding.EncodeToString(s.topic.ID[:])
	}
	return s.name + "/" + strconv.Itoa(int(number)) + "@" + id
}

// numberOf is the partition that stream names, if it does.
func (s *Source) numberOf(stream string) (int32, bool) {
	text, found := strings.CutPrefix(stream, s.name+"/")
	text, _, at := strings.Cut(text, "@")
	n, err := strconv.ParseInt(text, 10, 32)
	return int32(n), found && at && err == nil && s.stream(int32(n)) == stream
}

// partition returns a partition, which it makes when it is new.
func (s *Source) partition(number int32) *partition {
	p := s.parts[number]
	if p == nil {
		p = &partition{number: number, uncommitted: uncommitted{next: -1, epoch: -1}, ledger: sources.NewLedger[struct{}](sources.LedgerOptions{
			Stream: s.stream(number), Consumer: s.o.Group, Snapshot: s.o.Snapshot, Limit: s.o.Pending, Remembered: remembered, Due: s.due,
		})}
		p.ledger.Restore(s.restored.positions, s.restored.covered)
		s.parts[number] = p
	}
	return p
}

// Run hands messages over until ctx ends or the intake refuses.
func (s *Source) Run(ctx context.Context, in sources.Intake) error {
	client, err := s.join()
	if err != nil {
		return err
	}
	defer client.PauseFetchTopics(s.name)
	s.work.Go(s.acknowledge)
	s.work.Go(s.measure)
	for failures := 0; ; {
		most, err := s.available(ctx)
		if err != nil {
			return nil
		}
		polled := client.PollRecords(ctx, most)
		if ctx.Err() != nil || polled.IsClientClosed() {
			return nil
		}
		if err := s.put(ctx, in, polled); err != nil {
			return nil
		}
		if err := s.skip(ctx, in, polled); err != nil {
			return nil
		}
		s.renew(ctx, polled)
		if failures = s.failures(polled, failures); failures > 0 && !wait(ctx, min(retryMost, retryFirst<<min(failures-1, 6))) {
			return nil
		}
	}
}

// failures tells the errors of a poll, and returns how many polls in a row brought
// nothing else.
func (s *Source) failures(polled kgo.Fetches, before int) int {
	failed := false
	polled.EachError(func(topic string, partition int32, err error) {
		failed = true
		err = dial.Explain(dial.About(err, topic, s.o.Group))
		s.link.failed(err)
		attrs := []any{"topic", topic, "err", err}
		if partition >= 0 {
			attrs = append(attrs, "partition", partition)
		}
		s.client.Tell(slog.LevelWarn, "reading failed", attrs...)
	})
	if failed && polled.NumRecords() == 0 {
		return before + 1
	}
	return 0
}

// available waits until messages may be read, and returns how many.
func (s *Source) available(ctx context.Context) (int, error) {
	for {
		s.mu.Lock()
		n := s.o.Pending - s.pending
		s.ask(s.pending)
		s.mu.Unlock()
		if n > 0 {
			return min(n, maxRun), nil
		}
		select {
		case <-s.freed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// ask has a save begin early when so many messages wait for one that reading will stop.
// s.mu is held.
func (s *Source) ask(waiting int) {
	if s.o.Snapshot && !s.asked && waiting >= max(1, s.o.Pending/2) {
		s.asked = true
		signal(s.early)
	}
}

// arrival is a message on its way to the intake.
type arrival struct {
	delivery graph.Delivery
	value    []byte
}

// put hands over what has arrived. A message that is too long ends in the dead letter
// queue, an empty one at once.
func (s *Source) put(ctx context.Context, in sources.Intake, polled kgo.Fetches) error {
	s.all = s.arrived(s.all[:0], polled)
	defer func() { clear(s.all); clear(s.run) }()
	deliveries, run := make([]graph.Delivery, 0, len(s.all)), s.run[:0]
	for _, a := range s.all {
		switch {
		case sources.Blank(a.value):
			a.delivery.Ended()
		case len(a.value) > sources.MaxLine:
			token := graph.NewDeliveryReceipt([]graph.Delivery{a.delivery}).Token(0)
			excerpt := bytes.Clone(a.value[:sources.ExcerptSize]) // it may wait for long
			if err := in.Oversize(ctx, excerpt, token); err != nil {
				return err
			}
		default:
			deliveries = append(deliveries, a.delivery)
			run = append(run, graph.Line{Raw: a.value})
		}
	}
	s.run = run
	if len(run) == 0 {
		return nil
	}
	s.buffers.Keep(run) // an answer of a broker is one piece of memory, with keys, headers and all
	receipt := graph.NewDeliveryReceipt(deliveries)
	for i := range run {
		run[i].Token = receipt.Token(i)
	}
	n, err := in.Put(ctx, run)
	receipt.Withdraw(n)
	return err
}

// arrived enters messages and appends those to be worked on.
func (s *Source) arrived(all []arrival, polled kgo.Fetches) []arrival {
	s.mu.Lock()
	defer s.mu.Unlock()
	polled.EachTopic(func(t kgo.FetchTopic) {
		for _, of := range t.Partitions {
			p := s.parts[of.Partition]
			if p == nil || !p.ours || p.leaving {
				continue // somebody else's by now, who is given these
			}
			p.end = max(p.end, of.LastStableOffset, of.HighWatermark)
			before := s.pending
			for _, r := range of.Records {
				if p.uncommitted.enter(r.Offset, r.LeaderEpoch) {
					s.pending++
				}
				at := graph.Position{Sequence: uint64(r.Offset) + 1, Time: r.Timestamp.Unix()}
				if d := p.ledger.Deliver(at, struct{}{}); d != nil {
					all = append(all, arrival{d, r.Value})
				}
			}
			if len(of.Records) > 0 && p.uncommitted.next < 0 {
				p.uncommitted.next = of.Records[0].Offset
			}
			for _, r := range of.Records {
				r.Recycle()
			}
			s.o.Metrics.pending.Add(float64(s.pending - before))
			s.count(p)
		}
	})
	s.ask(s.pending)
	return all
}

// Close commits what is due and leaves the group.
func (s *Source) Close(ctx context.Context) error {
	s.die()
	s.mu.Lock()
	client := s.client
	s.mu.Unlock()
	if client == nil {
		return nil
	}
	s.work.Wait()
	err := s.commit(ctx)
	if left := client.LeaveGroupContext(ctx); err == nil {
		err = left
	}
	s.link.end()
	client.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		s.drop(p)
	}
	if err != nil && !errors.Is(err, kgo.ErrClientClosed) {
		return fmt.Errorf("messages that have ended may come again: %w", dial.Explain(err))
	}
	return nil
}

// wait reports whether the time has passed before ctx ended.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
