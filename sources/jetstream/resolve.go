package jetstream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/internal/natsconn"
)

// apiWait is for an answer of the JetStream API.
const apiWait = 5 * time.Second

// consumer is what is read from.
type consumer struct {
	stream  string
	created time.Time // of the stream
	name    string
	ackWait time.Duration // the shortest
	pending int           // messages it leaves unacknowledged
	limits  limits
}

// identity tells the stream from those of its name that are not the same.
func (c *consumer) identity() string {
	return c.stream + "@" + c.created.UTC().Format(time.RFC3339Nano)
}

// resolve finds or makes stream and consumer. Only the first time a replay begins anew, and
// the consumer is claimed.
func (s *Source) resolve(ctx context.Context, first bool) (consumer, error) {
	ctx, cancel := context.WithTimeout(ctx, apiWait)
	defer cancel()
	stream, err := s.conn.Source(ctx, s.subject)
	if err != nil {
		return consumer{}, err
	}
	name := s.o.Input.ConsumerName(s.subject)
	if first && s.o.Claim != nil {
		if err := s.o.Claim(stream.Config.Name, stream.Created, name); err != nil {
			return consumer{}, err
		}
	}
	info, err := s.durable(ctx, stream, name, first && s.o.Input.Replays())
	if err == nil {
		err = s.fits(&info.Config)
	}
	if err != nil {
		return consumer{}, fmt.Errorf("consumer %s of stream %s on %s: %w", name, stream.Config.Name, s.conn.Server(), err)
	}
	return consumerOf(stream, info, s), nil
}

func consumerOf(stream *jetstream.StreamInfo, info *jetstream.ConsumerInfo, s *Source) consumer {
	cfg := &info.Config
	c := consumer{stream: stream.Config.Name, created: stream.Created, name: info.Name, ackWait: cfg.AckWait, pending: cfg.MaxAckPending}
	if len(cfg.BackOff) > 0 {
		c.ackWait = slices.Min(cfg.BackOff)
	}
	if c.pending <= 0 { // without a limit
		c.pending = s.o.MaxAckPending
	}
	c.limits = limits{messages: atOnce, bytes: max(maxBytes, int(s.conn.MaxPayload())+maxBytes/8), expiry: expiry}
	if n := cfg.MaxRequestBatch; n > 0 {
		c.limits.messages = min(c.limits.messages, n)
	}
	if n := cfg.MaxRequestMaxBytes; n > 0 {
		c.limits.bytes = min(c.limits.bytes, n)
	}
	if d := cfg.MaxRequestExpires; d > 0 {
		c.limits.expiry = min(c.limits.expiry, d)
	}
	return c
}

// durable finds or makes the consumer.
func (s *Source) durable(ctx context.Context, in *jetstream.StreamInfo, name string, replay bool) (*jetstream.ConsumerInfo, error) {
	stream := in.Config.Name
	there, err := s.js.Consumer(ctx, stream, name)
	switch {
	case err == nil && !replay:
		return there.CachedInfo(), nil
	case err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound):
		return nil, err
	}
	cfg := jetstream.ConsumerConfig{
		Durable: name, AckPolicy: jetstream.AckExplicitPolicy, FilterSubject: s.subject,
		AckWait: 30 * time.Second, MaxDeliver: -1, MaxAckPending: s.o.MaxAckPending,
	}
	if replay {
		if err := begin(&cfg, s.o.Input, in); err != nil {
			return nil, err
		}
	}
	level := slog.LevelInfo
	if err == nil {
		old := there.CachedInfo().Config
		cfg.AckWait, cfg.MaxDeliver, cfg.MaxAckPending = old.AckWait, old.MaxDeliver, old.MaxAckPending
		if err := s.fits(&old); err != nil {
			return nil, err
		}
		if err := s.js.DeleteConsumer(ctx, stream, name); err != nil && !errors.Is(err, jetstream.ErrConsumerNotFound) {
			return nil, err
		}
		if s.o.Input.ConsumerGroup != "" {
			level = slog.LevelWarn // others are in the group
		}
		s.log.Log(ctx, level, "consumer deleted for a replay", "stream", stream, "consumer", name)
	}
	made, err := s.js.CreateConsumer(ctx, stream, cfg)
	if err != nil {
		if there, again := s.js.Consumer(ctx, stream, name); again == nil && !replay { // somebody else was faster
			return there.CachedInfo(), nil
		}
		return nil, err
	}
	s.log.Log(ctx, level, "consumer created", "stream", stream, "consumer", name, "filter", s.subject, "begins_at", place(&cfg))
	return made.CachedInfo(), nil
}

// begin has a consumer begin where a replay does. A place behind the end of the stream is
// an error: what is published until then would be skipped.
func begin(cfg *jetstream.ConsumerConfig, in natsconn.Input, stream *jetstream.StreamInfo) error {
	last := stream.State.LastSeq
	switch {
	case in.ReplayFromLatest:
		cfg.DeliverPolicy = jetstream.DeliverLastPolicy
	case in.ReplayFromSequence != "":
		n, err := strconv.ParseUint(in.ReplayFromSequence, 10, 64)
		if err != nil {
			return fmt.Errorf("--replay-from-sequence: %w", err)
		}
		if n > last && n-last > 1 {
			return fmt.Errorf("--replay-from-sequence %d: the stream ends at %d, and the messages in between would be skipped (%d is the last place to begin at; without the flag reading goes on where it was)", n, last, last+1)
		}
		cfg.DeliverPolicy, cfg.OptStartSeq = jetstream.DeliverByStartSequencePolicy, n
	default:
		at, err := time.Parse(time.RFC3339, in.ReplayFromTime)
		if err != nil {
			return fmt.Errorf("--replay-from-time: %w", err)
		}
		now := stream.TimeStamp // by the clock that stamps messages
		if now.IsZero() {       // of an old server
			now = time.Now()
		}
		if at.After(now) {
			return fmt.Errorf("--replay-from-time %s lies in the future: the stream ends at %d, and it is %s (without the flag reading goes on where it was)", in.ReplayFromTime, last, now.UTC().Format(time.RFC3339))
		}
		cfg.DeliverPolicy, cfg.OptStartTime = jetstream.DeliverByStartTimePolicy, &at
	}
	return nil
}

// place is where a consumer begins, for the log.
func place(cfg *jetstream.ConsumerConfig) string {
	switch cfg.DeliverPolicy {
	case jetstream.DeliverLastPolicy:
		return "the newest message"
	case jetstream.DeliverByStartSequencePolicy:
		return "sequence " + strconv.FormatUint(cfg.OptStartSeq, 10)
	case jetstream.DeliverByStartTimePolicy:
		return cfg.OptStartTime.UTC().Format(time.RFC3339)
	}
	return "the first message"
}

// fits reports a consumer that would lose messages, or that is no pull consumer. One that
// filters other subjects is the operator's wish.
func (s *Source) fits(cfg *jetstream.ConsumerConfig) error {
	const mend = " (delete it, or name another one with --consumer-group)"
	switch {
	case cfg.DeliverSubject != "":
		return errors.New("it is a push consumer, and messages are pulled" + mend)
	case cfg.AckPolicy != jetstream.AckExplicitPolicy:
		return errors.New("its acknowledgement policy is " + cfg.AckPolicy.String() + ", and messages are acknowledged one by one: it has to be explicit" + mend)
	case cfg.HeadersOnly:
		return errors.New("it delivers headers without messages" + mend)
	case len(cfg.PriorityGroups) > 0:
		return errors.New("it has priority groups, which are not supported" + mend)
	}
	filters := cfg.FilterSubjects
	if len(filters) == 0 {
		filters = []string{cfg.FilterSubject}
	}
	if filters[0] == "" {
		filters = []string{">"}
	}
	if !natsconn.Same(filters, []string{s.subject}) {
		s.log.Warn("the consumer filters other subjects than the input names, and is used as it is",
			"consumer", cfg.Durable, "filters", strings.Join(filters, ", "), "subject", s.subject)
	}
	return nil
}
