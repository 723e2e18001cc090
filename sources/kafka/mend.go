package kafka

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/kafkaconn/dial"
	"github.com/sluicehq/sluice/sources"
)

// skip goes on behind messages that would take all memory. They are compressed, and nobody
// can say how many they are, so they end together as one that is too long.
func (s *Source) skip(ctx context.Context, in sources.Intake, polled kgo.Fetches) (err error) {
	polled.EachError(func(topic string, partition int32, fault error) {
		var bomb *kgo.ErrDecompressTooLarge
		if err != nil || !errors.As(fault, &bomb) {
			return
		}
		s.client.SetOffsets(map[string]map[int32]kgo.EpochOffset{topic: {partition: {Epoch: bomb.Epoch, Offset: bomb.NextOffset}}})
		excerpt := fmt.Appendf(nil, "messages %d to %d of partition %d of topic %s, which decompress to more than %d bytes",
			bomb.Offset, bomb.NextOffset-1, partition, topic, decompressed)
		err = in.Oversize(ctx, excerpt, graph.Token{})
	})
	return err
}

// is reports whether a topic is the one that is read.
func (s *Source) is(t dial.Topic) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return t.ID == s.topic.ID
}

// renew reads a topic that was deleted and made again: what was known of its partitions
// says nothing of the new ones.
func (s *Source) renew(ctx context.Context, polled kgo.Fetches) {
	missing := false
	polled.EachError(func(_ string, _ int32, err error) {
		missing = missing || errors.Is(err, kerr.UnknownTopicID) || errors.Is(err, kerr.UnknownTopicOrPartition)
	})
	if !missing {
		return
	}
	now, err := s.client.Topic(ctx, s.name)
	if err != nil || s.is(now) {
		return // it is told with the error that led here
	}
	s.client.Tell(slog.LevelWarn, "the topic was deleted and made again, and is read from where the group begins", "topic", now.Name)
	s.client.PurgeTopicsFromConsuming(now.Name)
	s.commits.Lock() // one in hand is about the old topic
	s.mu.Lock()
	s.topic = now
	for number, p := range s.parts {
		s.drop(p)
		delete(s.parts, number)
	}
	s.mu.Unlock()
	s.commits.Unlock()
	s.client.AddConsumeTopics(now.Name)
}
