package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/actors/sink/kafka"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
)

// messages have the given bodies and one delivery each.
func messages(first int, bodies ...string) (all []graph.Message) {
	for i, body := range bodies {
		e := &graph.Envelope{Time: time.Unix(1_700_000_000, 0)}
		e.ID[0] = byte(first + i)
		all = append(all, graph.Message{Envelope: e, Kind: "detection", Body: []byte(body)})
	}
	return all
}

func wantStored(t *testing.T, c *kafkatest.Cluster, want ...string) {
	t.Helper()
	if got := kafkatest.Bodies(c.Stored("results")); !slices.Equal(got, want) {
		t.Errorf("%d records are stored, %.200q, want %.200q", len(got), got, want)
	}
}

// transport opens a sink in a bubble of virtual time.
func transport(t *testing.T, label string, options ...kfake.Opt) (*kafkatest.Cluster, *kafka.Transport) {
	t.Helper()
	c := kafkatest.InMemory(t, append(options, kfake.SeedTopics(1, "results"))...)
	s := open(t, c, label)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return c, s
}

func TestRecordsHaveAnIDAndTheHeadersOfTheirMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct{ label, id, placed string }{
			{"kafka", "msg_07000000000000000000000000000000-0", "s/0@id-42-kafka-0"},
			{"kafka-2", "msg_07000000000000000000000000000000-0-kafka-2", "s/0@id-42-kafka-2-0"},
		} {
			c, s := transport(t, tc.label)
			all := messages(7, "a", "b")
			all[0].Address("", graph.Header{Name: "severity", Value: "high"})
			all[1].Position = graph.Position{Stream: "s/0@id", Sequence: 42}
			if n, err := s.Write(t.Context(), all); n != 2 || err != nil {
				t.Fatalf("%d confirmed, %v", n, err)
			}
			for i, want := range []string{
				"sluice-id=" + tc.id + " sluice-kind=detection severity=high ", "sluice-id=" + tc.placed + " sluice-kind=detection ",
			} {
				r, got := c.Stored("results")[i], ""
				for _, h := range r.Headers {
					got += fmt.Sprintf("%s=%s ", h.Key, h.Value)
				}
				if got != want || r.Key != nil || !r.Timestamp.Equal(time.Unix(1_700_000_000, 0)) {
					t.Errorf("record %d of %s: headers %q, key %q, time %s; want %q", i, tc.label, got, r.Key, r.Timestamp, want)
				}
			}
			c.Down()
		}
	})
}

// What is too large for the topic is permanent, and those around it are stored.
func TestARecordThatIsTooLargeIsPermanent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := kafkatest.InMemory(t)
		if err := c.Now().CreateTopic("results", 1, map[string]string{"max.message.bytes": "2000"}); err != nil {
			t.Fatal(err)
		}
		s := open(t, c, "kafka")
		defer s.Close()
		all := messages(1, "a", strings.Repeat("x", 5000), "b")
		n, err := s.Write(t.Context(), all)
		var permanent interface{ Permanent() bool }
		var confirmed interface{ Confirmed(i int) bool }
		if n != 1 || !errors.As(err, &permanent) || !permanent.Permanent() || !errors.As(err, &confirmed) || confirmed.Confirmed(0) || !confirmed.Confirmed(1) ||
			!strings.Contains(err.Error(), "max.message.bytes") {
			t.Fatalf("%d confirmed, %v; want the first, and the last behind a permanent error", n, err)
		}
		s.Abandon()
		if n, err := s.Write(t.Context(), all[2:]); n != 1 || err != nil {
			t.Fatalf("%d confirmed, %v", n, err)
		}
		wantStored(t, c, "a", "b")
	})
}

// A confirmation that comes after the attempt counts in the next one, and nothing is
// stored twice.
func TestAnAttemptThatTookTooLongIsNotRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := transport(t, "kafka")
		slow := true
		c.Now().ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			c.Now().KeepControl()
			if slow {
				slow = false
				c.Now().SleepControl(func() { time.Sleep(8 * time.Second) })
			}
			return nil, nil, false
		})
		all := messages(1, "a", "b")
		if n, err := s.Write(t.Context(), all); n != 0 || err == nil || !strings.Contains(err.Error(), "no confirmation of topic results within 5s") {
			t.Fatalf("%d confirmed, %v; want none in time", n, err)
		}
		if n, err := s.Write(t.Context(), all); n != 2 || err != nil {
			t.Fatalf("%d confirmed, %v", n, err)
		}
		wantStored(t, c, "a", "b")
	})
}

// The connection breaks again and again, with records on their way: each is stored once.
func TestBrokenConnectionsStoreNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := transport(t, "kafka")
		broken := 0
		c.Now().ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			c.Now().KeepControl()
			if broken++; broken%2 == 1 {
				go c.Cut() // the answer is lost, at times with the request
			}
			return nil, nil, false
		})
		var want []string
		for i := range 20 {
			body := fmt.Sprint("record ", i)
			want = append(want, body)
			all := messages(i, body)
			for tries := 0; len(all) > 0; tries++ {
				n, err := s.Write(t.Context(), all)
				if all = all[n:]; err != nil && tries > 20 {
					t.Fatal(err)
				}
			}
		}
		wantStored(t, c, want...)
	})
}

// What was given up while nobody answered does not arrive later.
func TestWhatIsGivenUpDoesNotComeLater(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := transport(t, "kafka")
		c.Down()
		if n, err := s.Write(t.Context(), messages(1, "a")); n != 0 || err == nil {
			t.Fatalf("%d confirmed, %v; want an error", n, err)
		}
		s.Abandon()
		c.Up()
		if n, err := s.Write(t.Context(), messages(2, "b")); n != 1 || err != nil {
			t.Fatalf("%d confirmed, %v", n, err)
		}
		time.Sleep(time.Minute)
		wantStored(t, c, "b")
	})
}

func TestAWriteEndsSoonAfterItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, s := transport(t, "kafka")
		c.Now().ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
			c.Now().KeepControl()
			return nil, errors.New("out of paper"), true
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		if n, err := s.Write(ctx, messages(1, "a")); n != 0 || !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > 2*time.Second {
			t.Errorf("%d confirmed, %v after %s; want the end of the context", n, err, time.Since(begin))
		}
	})
}

func TestTopicsAndBrokersThatAreNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := transport(t, "kafka")
		for target, want := range map[string]string{
			c.Broker() + "/reslts":    "topic reslts does not exist: create it, or mend the name",
			"127.0.0.1:1/results":     "connect to Kafka: ",
			c.Broker():                "a topic is missing",
			"u:secret@127.0.0.1:1/re": "a Kafka URL holds no credentials",
		} {
			_, err := kafka.Open(t.Context(), kafka.Options{Dialer: c.Dialer(kafkaconn.Config{}), Target: target})
			if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: got %v, want %q", target, err, want)
			}
		}
	})
}
