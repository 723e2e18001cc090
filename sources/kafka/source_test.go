package kafka

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/sourcetest"
)

// reader is a source that runs.
type reader struct {
	*Source
	in   *sourcetest.Intake
	stop func()
}

// read runs a source until the test or stop ends it.
func read(t *testing.T, s *Source, available int) *reader {
	t.Helper()
	r := &reader{Source: s, in: sourcetest.NewIntake(available)}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx, r.in) }()
	r.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		late, done := context.WithTimeout(context.Background(), 10*time.Second)
		defer done()
		if err := s.Close(late); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(r.stop)
	return r
}

// end settles what has come in.
func (r *reader) end() {
	for _, l := range r.in.Take() {
		l.Token.Settle()
	}
}

// endIn settles what has come in and was taken in an epoch.
func (r *reader) endIn(e *graph.Epoch) {
	for _, l := range r.in.Take() {
		l.Token.In(e).Settle()
	}
}

// asked reports whether a save is asked for, which it takes note of.
func (r *reader) asked() bool {
	select {
	case <-r.Positions().Early():
		return true
	default:
		return false
	}
}

// until waits for up to two minutes of virtual time.
func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 2400 {
		if synctest.Wait(); done() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("%s: that does not come", what)
}

func valueOf(t *testing.T, m prometheus.Metric) float64 {
	t.Helper()
	var out dto.Metric
	if err := m.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.GetCounter().GetValue() + out.GetGauge().GetValue()
}

// lags are those of the partitions of the one topic, in their order.
func lags(t *testing.T, registry *prometheus.Registry) (all []float64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if f.GetName() == "kafka_lag" {
				all = append(all, m.GetGauge().GetValue())
			}
		}
	}
	return all
}

func numbered(from, to int) (lines []string) {
	for i := from; i < to; i++ {
		lines = append(lines, fmt.Sprint("line ", i))
	}
	return lines
}

func TestMessagesWithoutAnEventEndAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 1, kfake.BrokerConfigs(map[string]string{"message.max.bytes": "4000000"}))
		long := bytes.Repeat([]byte("x"), sources.MaxLine+1)
		c.Produce("events", 0, nil, []byte(""), []byte(" \t\r\n"), long, long[:sources.MaxLine])
		r := read(t, open(t, c, nil), 10)
		until(t, "the longest line", func() bool { return len(r.in.Lines()) == 1 })
		if got := r.in.Excerpts(); len(got) != 1 || got[0] != string(long[:sources.ExcerptSize]) {
			t.Errorf("%d messages were too long, want one with its beginning", len(got))
		}
		until(t, "the commit of those before it", func() bool { return c.Committed("sluice-events", "events", 0) == 4 })
		r.end()
		until(t, "the commit of all", func() bool { return c.Committed("sluice-events", "events", 0) == 5 })
	})
}

func TestWhereAGroupBegins(t *testing.T) {
	for _, tc := range []struct {
		name   string
		latest bool
		first  []string // what the first run of the group reads
		second []string // what the second reads, which finds nothing committed by messages
	}{
		{"with the oldest message", false, []string{"a", "b"}, []string{"a", "b", "c"}},
		{"with new messages, from where it first looked", true, nil, []string{"c"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := cluster(t, modetest.Mode{}, 1)
				c.Produce("events", 0, []byte("a"), []byte("b"))
				latest := func(o *Options) { o.Latest = tc.latest }
				r := read(t, open(t, c, latest), 10)
				until(t, "what it begins with", func() bool {
					return slices.Equal(r.in.Lines(), tc.first) && (!tc.latest || c.Committed("sluice-events", "events", 0) == 2)
				})
				r.stop()
				c.Produce("events", 0, []byte("c"))
				r = read(t, open(t, c, latest), 10)
				until(t, "what comes then", func() bool { return slices.Equal(r.in.Lines(), tc.second) })
			})
		})
	}
}

// What retention took does not keep the group from what is left.
func TestAGroupWhoseOffsetIsGoneBeginsWithTheOldestMessage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 1)
		c.Produce("events", 0, []byte("a"), []byte("b"), []byte("c"), []byte("d"))
		r := read(t, open(t, c, nil), 1)
		until(t, "the first", func() bool { return len(r.in.Lines()) == 1 })
		r.end()
		until(t, "its commit", func() bool { return c.Committed("sluice-events", "events", 0) == 1 })
		r.stop()
		if err := c.Now().DeleteRecords("events", 0, 3); err != nil {
			t.Fatal(err)
		}
		r = read(t, open(t, c, func(o *Options) { o.Latest = true }), 10)
		until(t, "the oldest that is left", func() bool { return slices.Equal(r.in.Lines(), []string{"d"}) })
	})
}

func TestAbortedTransactionsAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 1)
		producer := c.Client(kgo.TransactionalID("of the test"), kgo.DefaultProduceTopic("events"))
		defer producer.Close()
		for i, end := range []kgo.TransactionEndTry{kgo.TryAbort, kgo.TryCommit} {
			if err := producer.BeginTransaction(); err != nil {
				t.Fatal(err)
			}
			if err := producer.ProduceSync(t.Context(), kgo.StringRecord(fmt.Sprint("line ", i))).FirstErr(); err != nil {
				t.Fatal(err)
			}
			if err := producer.EndTransaction(t.Context(), end); err != nil {
				t.Fatal(err)
			}
		}
		r := read(t, open(t, c, nil), 10)
		until(t, "the one that was committed", func() bool { return slices.Equal(r.in.Lines(), []string{"line 1"}) })
	})
}

// Nothing is read beyond the number of messages that may be pending, whichever of them
// holds the others up.
func TestWhatIsPendingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 1)
		c.Produce("events", 0, kafkatest.Lines(numbered(0, 100)...)...)
		s := open(t, c, func(o *Options) { o.Pending = 10 })
		r := read(t, s, 100)
		until(t, "as many as may be", func() bool { return len(r.in.Lines()) == 10 })
		all := r.in.Take()
		for _, l := range all[1:] {
			l.Token.Settle()
		}
		time.Sleep(time.Minute)
		if n := len(r.in.Lines()); n != 10 {
			t.Errorf("%d messages came while the first one was not acknowledged, want 10", n)
		}
		if got := valueOf(t, s.o.Metrics.pending); got != 10 {
			t.Errorf("the series says %v are pending, want 10", got)
		}
		all[0].Token.Settle()
		until(t, "the next ones", func() bool { return len(r.in.Lines()) == 20 })
		for len(r.in.Lines()) < 100 {
			r.end()
			time.Sleep(time.Second)
		}
		r.end()
		until(t, "the commit of all", func() bool { return c.Committed("sluice-events", "events", 0) == 100 })
		r.stop()
		if got := valueOf(t, s.o.Metrics.pending); got != 0 {
			t.Errorf("the series says %v are pending at the end, want 0", got)
		}
	})
}

// A save is asked for before so much waits for one that reading stops.
func TestSnapshotsBeginEarlyWhenMuchWaitsForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 3)
		for p := range int32(3) {
			c.Produce("events", p, kafkatest.Lines(numbered(0, 300)...)...)
		}
		s := open(t, c, func(o *Options) { o.Pending, o.Snapshot = 100, true })
		r := read(t, s, 2000)
		saves := 0
		for len(r.in.Lines()) < 900 {
			until(t, "a save that is asked for", r.asked)
			saves++
			r.endIn(graph.NewEpoch(nil))
			s.Positions().Saved(sources.Final)
		}
		if saves < 9 || saves > 50 {
			t.Errorf("%d saves for 900 messages of which 100 may be pending", saves)
		}
	})
}

// What came behind the barrier of a save and stops reading asks for the next save.
func TestASaveThatLeavesMuchWaitingAsksForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 1)
		c.Produce("events", 0, kafkatest.Lines(numbered(0, 10)...)...)
		s := open(t, c, func(o *Options) { o.Pending, o.Snapshot = 10, true })
		r := read(t, s, 100)
		until(t, "all messages", func() bool { return len(r.in.Lines()) == 10 })
		until(t, "the first save", r.asked)
		first := graph.NewEpoch(nil)
		r.endIn(first.Close())
		s.Positions().Saved(1)
		until(t, "the next save", r.asked)
		s.Positions().Saved(2)
		if synctest.Wait(); r.asked() {
			t.Error("a save is asked for when the last one covers all, and it is about to be committed")
		}
		until(t, "the commit of all", func() bool { return c.Committed("sluice-events", "events", 0) == 10 })
		if r.asked() {
			t.Error("a save is asked for when nothing waits for one")
		}
	})
}

func TestTheLagIsWhatLiesBehindTheCommittedOffset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 2)
		c.Produce("events", 1, kafkatest.Lines(numbered(0, 20)...)...)
		registry := prometheus.NewRegistry()
		metrics, err := NewMetrics(registry)
		if err != nil {
			t.Fatal(err)
		}
		r := read(t, open(t, c, func(o *Options) { o.Metrics, o.Pending = metrics, 5 }), 100)
		until(t, "the first", func() bool { return len(r.in.Lines()) == 5 })
		want := func(what string, lag ...float64) {
			t.Helper()
			until(t, what, func() bool { return slices.Equal(lags(t, registry), lag) })
		}
		want("everything", 0, 20)
		c.Produce("events", 1, []byte("more")) // which nobody reads for now
		want("one more", 0, 21)
		r.end()
		want("less", 0, 16)
		r.stop()
		if left := lags(t, registry); len(left) > 0 {
			t.Errorf("a source that is closed has the lags %v, want none", left)
		}
	})
}

// A topic that is deleted and made again has other messages under the same offsets.
func TestATopicThatIsMadeAnewIsReadFromItsBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 1)
		c.Produce("events", 0, kafkatest.Lines(numbered(0, 5)...)...)
		r := read(t, open(t, c, nil), 100)
		until(t, "the old ones", func() bool { return len(r.in.Lines()) == 5 })
		r.end()
		until(t, "their commit", func() bool { return c.Committed("sluice-events", "events", 0) == 5 })
		if err := c.Now().DeleteTopic("events"); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		if err := c.Now().CreateTopic("events", 1, nil); err != nil {
			t.Fatal(err)
		}
		c.Produce("events", 0, kafkatest.Lines(numbered(10, 13)...)...)
		until(t, "the new ones", func() bool { return len(r.in.Lines()) == 8 })
		r.end()
		until(t, "their commit", func() bool { return c.Committed("sluice-events", "events", 0) == 3 })
	})
}

func TestBrokersThatGoAndComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 2)
		r := read(t, open(t, c, nil), 1000)
		for round := range 5 {
			for p := range int32(2) {
				c.Produce("events", p, kafkatest.Lines(numbered(100*round, 100*round+10)...)...)
			}
			until(t, "what was produced", func() bool { return len(r.in.Lines()) >= 20*(round+1) })
			c.Down()
			r.end() // whose commits fail
			time.Sleep(time.Duration(1+20*round) * time.Second)
			c.Up()
		}
		until(t, "the commits", func() bool {
			return c.Committed("sluice-events", "events", 0) == 50 && c.Committed("sluice-events", "events", 1) == 50
		})
		if n := len(r.in.Lines()); n != 100 {
			t.Errorf("%d messages were handed over, want each of 100 once", n)
		}
	})
}

// A commit that fails is made again, and nothing is committed twice when it succeeds.
func TestCommitsThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 1)
		var mu sync.Mutex
		var seen []int64
		c.Now().ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
			c.Now().KeepControl()
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, req.(*kmsg.OffsetCommitRequest).Topics[0].Partitions[0].Offset)
			if len(seen) <= 3 {
				return nil, errors.New("out of paper"), true
			}
			return nil, nil, false
		})
		c.Produce("events", 0, kafkatest.Lines(numbered(0, 5)...)...)
		s := open(t, c, nil)
		r := read(t, s, 100)
		until(t, "the messages", func() bool { return len(r.in.Lines()) == 5 })
		r.end()
		until(t, "the commit", func() bool { return c.Committed("sluice-events", "events", 0) == 5 })
		time.Sleep(time.Minute)
		mu.Lock()
		defer mu.Unlock()
		if len(seen) != 4 {
			t.Errorf("commits of %v, want three that fail and one", seen)
		}
		if failed := valueOf(t, s.o.Metrics.commits[0]); failed < 1 {
			t.Errorf("%v commits failed, want some", failed)
		}
	})
}

func TestParameters(t *testing.T) {
	for _, tc := range []struct {
		name    string
		options map[string]string
		want    string // settings, or a part of the error
	}{
		{"none", nil, "{Group: Instance: Snapshot:false Latest:false Pending:50000}"},
		{"all", map[string]string{"group": "g", "instance": "i", "ack": "snapshot", "start": "latest", "pending": "7"}, "{Group:g Instance:i Snapshot:true Latest:true Pending:7}"},
		{"the usual ones", map[string]string{"ack": "delivered", "start": "earliest"}, "{Group: Instance: Snapshot:false Latest:false Pending:50000}"},
		{"another acknowledgement", map[string]string{"ack": "never"}, "ack=never: delivered or snapshot is needed"},
		{"another start", map[string]string{"start": "now"}, "start=now: earliest or latest is needed"},
		{"no group", map[string]string{"group": ""}, "group=: a name is needed"},
		{"no instance", map[string]string{"instance": " "}, "instance= : a name is needed"},
		{"no number", map[string]string{"pending": "many"}, "pending=many: a number from 1 to 1000000 is needed"},
		{"none pending", map[string]string{"pending": "0"}, "pending=0: a number from 1"},
		{"too many", map[string]string{"pending": "1000001"}, "pending=1000001: a number from 1"},
	} {
		s, err := ParseSettings(tc.options)
		got := fmt.Sprintf("%+v", s)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
}
