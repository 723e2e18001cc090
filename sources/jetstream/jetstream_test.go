package jetstream_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/logtest"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	"github.com/sluicehq/sluice/sources"
	source "github.com/sluicehq/sluice/sources/jetstream"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

// running runs a source until stop is called.
func running(t *testing.T, s *source.Source) (in *sourcetest.Intake, stop func()) {
	t.Helper()
	in = sourcetest.NewIntake(100_000)
	return in, runInto(t, s, in)
}

func runInto(t *testing.T, s *source.Source, in *sourcetest.Intake) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, in) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the source ended with %v", err)
		}
		shut(t, s)
	}
}

func open(t *testing.T, o source.Options) *source.Source {
	t.Helper()
	s, err := source.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// wait waits for what a real server does.
func wait(t *testing.T, what string, done func() bool) {
	t.Helper()
	for begin := time.Now(); !done(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > time.Minute {
			t.Fatalf("%s: not yet", what)
		}
	}
}

func settle(in *sourcetest.Intake) {
	epoch := graph.NewEpoch(nil)
	for _, l := range in.Take() {
		l.Token.In(epoch).Settle()
	}
}

// pending is how many messages the server waits for acknowledgements of, and has not
// delivered.
func pending(t *testing.T, s *natstest.Server, stream string) int {
	t.Helper()
	i := info(t, s, stream, "sluice-daemon-events")
	return i.NumAckPending + int(i.NumPending)
}

func numbers(from, to int) (all []string) {
	for n := from; n < to; n++ {
		all = append(all, fmt.Sprint(n))
	}
	return all
}

func wantLines(t *testing.T, in *sourcetest.Intake, want []string) {
	t.Helper()
	if got := in.Lines(); !slices.Equal(got, want) {
		t.Errorf("got %d lines, want %d: %.200q", len(got), len(want), got)
	}
}

func TestBlankAndOversizeMessagesAreAcknowledged(t *testing.T) {
	s := natstest.Start(t, func(o *server.Options) { o.MaxPayload = 16 << 20 })
	long := strings.Repeat("x", sources.MaxLine)
	publish(t, s, "EVENTS", "events.>", "events.a", "a", "", " \t\r\n", "b\nc", long, long+"x", strings.Repeat("y", 12<<20), "d")
	consume(t, s, jetstream.ConsumerConfig{Durable: "sluice-daemon-events", AckPolicy: jetstream.AckExplicitPolicy, FilterSubject: "events.>", MaxRequestMaxBytes: 4 << 20})
	src := open(t, options(t, s, "events.>"))
	in, stop := running(t, src)
	wait(t, "the last message", func() bool { n := in.Lines(); return len(n) == 4 })
	wantLines(t, in, []string{"a", "b\nc", long, "d"})
	if got := in.Excerpts(); len(got) != 2 || got[0] != long[:sources.ExcerptSize] || got[1] != strings.Repeat("y", sources.ExcerptSize) {
		t.Errorf("%d excerpts, want two of %d bytes", len(got), sources.ExcerptSize)
	}
	settle(in)
	wait(t, "everything acknowledged", func() bool { return pending(t, s, "EVENTS") == 0 })
	stop()
}

func TestAConsumerDeletedUnderneathIsMadeAgain(t *testing.T) {
	s := natstest.Start(t, nil)
	publish(t, s, "EVENTS", "events.>", "events.a", numbers(0, 10)...)
	var log logtest.Buffer
	o := options(t, s, "events.>")
	o.Dialer.Log = log.Logger(slog.LevelInfo)
	in, stop := running(t, open(t, o))
	wait(t, "ten messages", func() bool { return len(in.Lines()) == 10 })
	kept := in.Take()
	for _, l := range kept[:5] {
		l.Token.Settle()
	}
	wait(t, "five acknowledged", func() bool { return pending(t, s, "EVENTS") == 5 })
	nc, js := s.Client()
	defer nc.Close()
	if err := js.DeleteConsumer(t.Context(), "EVENTS", "sluice-daemon-events"); err != nil {
		t.Fatal(err)
	}
	wait(t, "a consumer", func() bool {
		_, err := js.Consumer(context.Background(), "EVENTS", "sluice-daemon-events")
		return err == nil
	})
	for _, l := range kept[5:] {
		l.Token.Settle()
	}
	publish(t, s, "EVENTS", "events.>", "events.a", numbers(10, 20)...)
	wait(t, "ten more", func() bool { return len(in.Lines()) >= 20 })
	settle(in)
	wait(t, "everything acknowledged", func() bool { return pending(t, s, "EVENTS") == 0 })
	stop()
	wantLines(t, in, numbers(0, 20)) // what is delivered again is known
	for _, want := range []string{"receiving failed", "Consumer Deleted", "consumer created"} {
		if !strings.Contains(log.String(), want) {
			t.Errorf("the log lacks %q:\n%s", want, log.String())
		}
	}
}

func TestAStreamMadeAnewIsReadFromItsBeginning(t *testing.T) {
	s := natstest.Start(t, nil)
	publish(t, s, "EVENTS", "events.>", "events.a", numbers(0, 10)...)
	var log logtest.Buffer
	o := options(t, s, "events.>")
	o.Dialer.Log = log.Logger(slog.LevelInfo)
	src := open(t, o)
	in, stop := running(t, src)
	wait(t, "ten messages", func() bool { return len(in.Lines()) == 10 })
	kept := in.Take()
	for _, l := range kept[:5] {
		l.Token.Settle()
	}
	wait(t, "five acknowledged", func() bool { return pending(t, s, "EVENTS") == 5 })
	nc, js := s.Client()
	defer nc.Close()
	if err := js.DeleteStream(t.Context(), "EVENTS"); err != nil {
		t.Fatal(err)
	}
	publish(t, s, "EVENTS", "events.>", "events.a", numbers(10, 20)...)
	wait(t, "ten more", func() bool { return len(in.Lines()) >= 20 })
	for _, l := range kept[5:] {
		l.Token.Settle() // of messages that are no more, with sequences that are others' now
	}
	if n := pending(t, s, "EVENTS"); n != 10 {
		t.Errorf("%d messages are not acknowledged, want all ten that have not ended", n)
	}
	settle(in)
	wait(t, "everything acknowledged", func() bool { return pending(t, s, "EVENTS") == 0 })
	stop()
	wantLines(t, in, numbers(0, 20))
	if !strings.Contains(log.String(), "the stream was made anew, or another one takes the subject") {
		t.Errorf("the log does not tell:\n%s", log.String())
	}
}

func TestAStreamThatIsGoneIsMadeAgain(t *testing.T) {
	s := natstest.Start(t, nil)
	in, stop := running(t, open(t, options(t, s, "events.>")))
	publish(t, s, "sluice-events", "events.>", "events.a", "1")
	wait(t, "a message", func() bool { return len(in.Lines()) == 1 })
	settle(in)
	nc, js := s.Client()
	defer nc.Close()
	if err := js.DeleteStream(t.Context(), "sluice-events"); err != nil {
		t.Fatal(err)
	}
	wait(t, "a consumer", func() bool {
		_, err := js.Consumer(context.Background(), "sluice-events", "sluice-daemon-events")
		return err == nil
	})
	publish(t, s, "sluice-events", "events.>", "events.a", "2")
	wait(t, "another message", func() bool { return len(in.Lines()) == 2 })
	settle(in)
	wait(t, "everything acknowledged", func() bool { return pending(t, s, "sluice-events") == 0 })
	stop()
}

// A server that goes and comes back costs nothing but time: what ended meanwhile is
// acknowledged when it is back, without another delivery, long before ack_wait is over.
func TestAServerThatComesBackHearsWhatEndedMeanwhile(t *testing.T) {
	natstest.Bubbles(t)
	modetest.Both(t, "restart", func(t *testing.T, m modetest.Mode) {
		t.Helper()
		b := newBus(t, m, 10*time.Minute, numbers(0, 20))
		src := b.Connect(t, false)
		in := sourcetest.NewIntake(1000)
		stop := runInto(t, src.(*source.Source), in)
		m.Until(t, func() bool { return len(in.Lines()) == 20 })
		kept := in.Take()
		b.Down()
		epoch := graph.NewEpoch(nil)
		for _, l := range kept {
			l.Token.In(epoch).Settle()
		}
		b.Up()
		publish(t, b.Server, "EVENTS", "events.>", "events.a", numbers(20, 30)...)
		b.lines = 30
		m.Until(t, func() bool { return len(in.Lines()) == 30 })
		settle(in)
		m.Until(t, func() bool { return !slices.Contains(b.Acks(), 0) })
		stop()
		wantLines(t, in, numbers(0, 30))
		for i, n := range b.Deliveries() {
			if n != 1 {
				t.Errorf("message %d was delivered %d times, want once", i, n)
			}
		}
	})
}

// While the queue is full, what has arrived and waits for room is in progress.
func TestNothingIsDeliveredAgainWhileTheQueueIsFull(t *testing.T) {
	natstest.Bubbles(t)
	synctest.Test(t, func(t *testing.T) {
		lines := numbers(0, 1000)
		b := newBus(t, modetest.Mode{}, 2*time.Second, lines)
		src := b.Connect(t, false)
		in := sourcetest.NewIntake(10)
		stop := runInto(t, src.(*source.Source), in)
		time.Sleep(5 * time.Minute)
		if n := len(in.Lines()); n != 10 {
			t.Fatalf("%d lines admitted, want the ten that fit", n)
		}
		if arrived := sum(b.Deliveries()); arrived > 400 {
			t.Errorf("%d messages have arrived, want 400 at most", arrived)
		}
		for len(in.Lines()) < len(lines) {
			settle(in)
			synctest.Wait()
			time.Sleep(time.Millisecond)
		}
		settle(in)
		stop()
		wantLines(t, in, lines)
		for i, n := range b.Deliveries() {
			if n != 1 {
				t.Errorf("message %d was delivered %d times, want once", i, n)
			}
		}
	})
}

func sum(all []int) (n int) {
	for _, v := range all {
		n += v
	}
	return n
}
