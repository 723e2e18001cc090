package jetstream_test

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	source "github.com/sluicehq/sluice/sources/jetstream"
)

// shut closes a source that does not run.
func shut(t *testing.T, s *source.Source) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}

// info is what the server knows of a consumer.
func info(t *testing.T, s *natstest.Server, stream, name string) *jetstream.ConsumerInfo {
	t.Helper()
	nc, js := s.Client()
	defer nc.Close()
	c, err := js.Consumer(t.Context(), stream, name)
	if err != nil {
		t.Fatal(err)
	}
	return c.CachedInfo()
}

func TestStreamAndConsumerAreNamedAfterTheSubject(t *testing.T) {
	s := natstest.Start(t, nil)
	for _, tc := range []struct{ name, subject, group, stream, consumer string }{
		{"a filter", "events.>", "", "sluice-events", "sluice-daemon-events"},
		{"a filter and a group", "logs.*.auth", "grp", "sluice-logs---auth", "grp"},
	} {
		o := options(t, s, tc.subject)
		o.Input.ConsumerGroup = tc.group
		o.MaxAckPending = 777
		opened, err := source.Open(o)
		if err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		c := info(t, s, tc.stream, tc.consumer).Config
		if c.AckPolicy != jetstream.AckExplicitPolicy || c.DeliverPolicy != jetstream.DeliverAllPolicy || c.FilterSubject != tc.subject ||
			c.AckWait != 30*time.Second || c.MaxDeliver != -1 || c.MaxAckPending != 777 {
			t.Errorf("%s: the consumer is %+v", tc.name, c)
		}
		shut(t, opened)
	}
}

func TestAnExistingStreamIsUsedWhateverItsName(t *testing.T) {
	s := natstest.Start(t, nil)
	publish(t, s, "ALL", "events.>", "events.a", "x")
	opened, err := source.Open(options(t, s, "events.*"))
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, opened)
	info(t, s, "ALL", "sluice-daemon-events")
}

func TestAStreamThatIsMadeIsWarnedOf(t *testing.T) {
	s := natstest.Start(t, nil)
	for n := range 12 {
		var log logtest.Buffer
		o := options(t, s, fmt.Sprintf("events%02d", n))
		o.Dialer.Log = log.Logger(slog.LevelInfo)
		opened, err := source.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		shut(t, opened)
		var others []string
		for other := range min(n, 10) {
			others = append(others, fmt.Sprintf("sluice-events%02d", other))
		}
		want := strings.Join(others, ", ")
		if n > 10 {
			want += " and more"
		}
		if n != 1 { // as the log writes texts
			want = strconv.Quote(want)
		}
		want = `if the subject is misspelt, delete the stream" ` + "|" + fmt.Sprintf("stream=sluice-events%02d subjects=events%02d other_streams=%s\n", n, n, want)
		for part := range strings.SplitSeq("level=WARN msg=\"no stream takes the subject, so one was created|"+want, "|") {
			if !strings.Contains(log.String(), part) {
				t.Errorf("%d: the log lacks %q:\n%s", n, part, log.String())
			}
		}
	}
}

func TestEverySubjectNeedsAStreamThatTakesThem(t *testing.T) {
	s := natstest.Start(t, nil)
	publish(t, s, "EVENTS", "events.>", "events.a", "x")
	for subject, want := range map[string]string{
		"":    "stream for subject '>' on nats://127.0.0.1:|no stream takes every subject, |name a subject (nats://host:port/subject), or make a stream yourself",
		"*.>": "no stream takes the whole subject, ",
	} {
		opened, err := source.Open(options(t, s, subject))
		if err == nil {
			shut(t, opened)
			t.Fatalf("%q is read from", subject)
		}
		for part := range strings.SplitSeq(want, "|") {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%q: got %v, want %q", subject, err, part)
			}
		}
	}
	all := natstest.Start(t, nil)
	nc, js := all.Client()
	defer nc.Close()
	if _, err := js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "ALL", Subjects: []string{">"}, NoAck: true}); err != nil {
		t.Fatal(err)
	}
	opened, err := source.Open(options(t, all, ""))
	if err != nil {
		t.Fatal(err)
	}
	shut(t, opened)
}

func TestStreamsAndConsumersThatCannotBeReadFrom(t *testing.T) {
	s := natstest.Start(t, nil)
	publish(t, s, "EVENTS", "events.>", "events.a", "x")
	publish(t, s, "sluice-logs", "logs.a", "logs.a", "x")
	for _, c := range []jetstream.ConsumerConfig{
		{Durable: "none", AckPolicy: jetstream.AckNonePolicy},
		{Durable: "all", AckPolicy: jetstream.AckAllPolicy},
		{Durable: "headers", AckPolicy: jetstream.AckExplicitPolicy, HeadersOnly: true},
		{Durable: "groups", AckPolicy: jetstream.AckExplicitPolicy, PriorityPolicy: jetstream.PriorityPolicyOverflow, PriorityGroups: []string{"g"}},
	} {
		consume(t, s, c)
	}
	nc, js := s.Client()
	defer nc.Close()
	if _, err := js.CreatePushConsumer(t.Context(), "EVENTS", jetstream.ConsumerConfig{Durable: "push", DeliverSubject: "there", AckPolicy: jetstream.AckExplicitPolicy}); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ name, subject, group, want string }{
		{"a stream of the name with other subjects", "logs.>", "", "stream sluice-logs exists and takes 'logs.a', not 'logs.>'"},
		{"no acknowledgements", "events.>", "none", "its acknowledgement policy is AckNone"},
		{"acknowledgements of all before", "events.>", "all", "its acknowledgement policy is AckAll"},
		{"headers only", "events.>", "headers", "it delivers headers without messages"},
		{"priority groups", "events.>", "groups", "it has priority groups"},
		{"a push consumer", "events.>", "push", ""},
	} {
		o := options(t, s, tc.subject)
		o.Input.ConsumerGroup = tc.group
		opened, err := source.Open(o)
		if err == nil {
			shut(t, opened)
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || tc.group != "" && !strings.Contains(err.Error(), "consumer "+tc.group+" of stream EVENTS on nats://127.0.0.1:") {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}

func TestAConsumerThatIsThereIsUsedAsItIs(t *testing.T) {
	s := natstest.Start(t, nil)
	publish(t, s, "EVENTS", "events.>", "events.a", "x")
	consume(t, s, jetstream.ConsumerConfig{Durable: "sluice-daemon-events", AckPolicy: jetstream.AckExplicitPolicy, FilterSubject: "events.b", AckWait: 7 * time.Second, MaxDeliver: 5, MaxAckPending: 11})
	before := info(t, s, "EVENTS", "sluice-daemon-events")
	var log logtest.Buffer
	o := options(t, s, "events.>")
	o.Dialer.Log = log.Logger(slog.LevelInfo)
	opened, err := source.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer shut(t, opened)
	if after := info(t, s, "EVENTS", "sluice-daemon-events"); !after.Created.Equal(before.Created) || after.Config.AckWait != 7*time.Second || after.Config.MaxDeliver != 5 {
		t.Errorf("the consumer is now %+v", after.Config)
	}
	for _, want := range []string{"the consumer filters other subjects than the input names", "filters=events.b", "ack_wait=7s max_ack_pending=11"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}

func TestAReplayMakesTheConsumerAnew(t *testing.T) {
	for _, tc := range []struct {
		name  string
		input natsconn.Input
		want  string // the lines
		level string // of what is logged
	}{
		{"from a sequence", natsconn.Input{ReplayFromSequence: "3"}, "345", "INFO"},
		{"from a time", natsconn.Input{ReplayFromTime: "that of the fourth"}, "45", "INFO"},
		{"from the newest", natsconn.Input{ReplayFromLatest: true}, "5", "INFO"},
		{"of a group", natsconn.Input{ReplayFromSequence: "1", ConsumerGroup: "grp"}, "12345", "WARN"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := natstest.Start(t, nil)
			publish(t, s, "EVENTS", "events.>", "events.a", "1", "2", "3", "4", "5")
			if tc.input.ReplayFromTime != "" {
				tc.input.ReplayFromTime = s.Stored("EVENTS")[3].Time.Format(time.RFC3339Nano)
			}
			name := tc.input.ConsumerName("events.>")
			consume(t, s, jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy, FilterSubject: "events.>", AckWait: 7 * time.Second, MaxDeliver: 5, MaxAckPending: 11})
			var log logtest.Buffer
			o := options(t, s, "events.>")
			o.Input, o.Dialer.Log = tc.input, log.Logger(slog.LevelInfo)
			opened, err := source.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			if c := info(t, s, "EVENTS", name).Config; c.AckWait != 7*time.Second || c.MaxDeliver != 5 || c.MaxAckPending != 11 {
				t.Errorf("the consumer is %+v, want the settings of the one before", c)
			}
			in, stop := running(t, opened)
			wait(t, "the messages", func() bool { return len(in.Lines()) >= len(tc.want) })
			settle(in)
			stop()
			if got := strings.Join(in.Lines(), ""); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			for _, want := range []string{"level=" + tc.level + ` msg="consumer deleted for a replay"`, "level=" + tc.level + ` msg="consumer created"`} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log lacks %q:\n%s", want, log.String())
				}
			}
			o = options(t, s, "events.>") // without a replay, it goes on where it was
			o.Input.ConsumerGroup = tc.input.ConsumerGroup
			again, err := source.Open(o)
			if err != nil {
				t.Fatal(err)
			}
			in, stop = running(t, again)
			publish(t, s, "EVENTS", "events.>", "events.a", "9")
			wait(t, "the message behind", func() bool { return len(in.Lines()) > 0 })
			settle(in)
			stop()
			if got := strings.Join(in.Lines(), ""); got != "9" {
				t.Errorf("then got %s, want what is new", got)
			}
		})
	}
}

func TestAReplayFromBehindTheEndLeavesTheConsumerAsItIs(t *testing.T) {
	s := natstest.Start(t, nil)
	publish(t, s, "EVENTS", "events.>", "events.a", "1", "2", "3")
	name := natsconn.Input{}.ConsumerName("events.>")
	consume(t, s, jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy, FilterSubject: "events.>"})
	before := info(t, s, "EVENTS", name)
	for _, tc := range []struct {
		name, subject string
		input         natsconn.Input
		want          string
	}{
		{"behind the next message", "events.>", natsconn.Input{ReplayFromSequence: "5"}, "--replay-from-sequence 5: the stream ends at 3, and the messages in between would be skipped (4 is the last place to begin at"},
		{"the last number", "events.>", natsconn.Input{ReplayFromSequence: "18446744073709551615"}, "the stream ends at 3"},
		{"of a stream without messages", "empty.>", natsconn.Input{ReplayFromSequence: "2"}, "the stream ends at 0"},
		{"a time in the future", "events.>", natsconn.Input{ReplayFromTime: "2999-01-01T00:00:00Z"}, "--replay-from-time 2999-01-01T00:00:00Z lies in the future: the stream ends at 3"},
	} {
		o := options(t, s, tc.subject)
		o.Input = tc.input
		opened, err := source.Open(o)
		if err == nil {
			shut(t, opened)
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
	if after := info(t, s, "EVENTS", name); !after.Created.Equal(before.Created) {
		t.Error("the consumer was made anew")
	}
	o := options(t, s, "events.>")
	o.Input.ReplayFromSequence = "4" // the next one
	opened, err := source.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	in, stop := running(t, opened)
	publish(t, s, "EVENTS", "events.>", "events.a", "4")
	wait(t, "the next message", func() bool { return len(in.Lines()) > 0 })
	settle(in)
	stop()
	if got := strings.Join(in.Lines(), ""); got != "4" {
		t.Errorf("got %s, want what is new", got)
	}
}

func TestAServerThatCannotBeReadFrom(t *testing.T) {
	gone := natstest.Start(t, nil)
	gone.Down()
	locked := natstest.Start(t, func(o *server.Options) { o.Authorization = "right" })
	plain := natstest.Start(t, func(o *server.Options) { o.JetStream = false })
	for _, tc := range []struct {
		name string
		to   *natstest.Server
		cfg  natsconn.Config
		want string
	}{
		{"a server that is away", gone, natsconn.Config{}, "connect to nats://127.0.0.1:"},
		{"a wrong login", locked, natsconn.Config{Token: "wrong-secret"}, "Authorization Violation"},
		{"a server without JetStream", plain, natsconn.Config{}, "JetStream is not enabled there"},
		{"a server without TLS", plain, natsconn.Config{RequireTLS: true}, "the server has no TLS, which --nats-require-tls demands"},
	} {
		o := options(t, gone, "events.>")
		o.Target, o.Dialer = tc.to.Target("events.>"), tc.to.Dialer(tc.cfg)
		opened, err := source.Open(o)
		if err == nil {
			shut(t, opened)
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: got %v, want %q", tc.name, err, tc.want)
		}
	}
}
