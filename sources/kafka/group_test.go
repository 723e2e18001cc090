package kafka

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
)

const partitions = 6

// spread produces n lines, one partition after the other.
func spread(c *kafkatest.Cluster, from, to int) {
	for p := range int32(partitions) {
		var lines []string
		for i := from; i < to; i++ {
			if int32(i)%partitions == p {
				lines = append(lines, fmt.Sprint("line ", i))
			}
		}
		c.Produce("events", p, kafkatest.Lines(lines...)...)
	}
}

// commits watches that no offset of a group ever goes back.
type commits struct {
	t  *testing.T
	mu sync.Mutex // guards at
	at map[int32]int64
}

func watch(t *testing.T, c *kafkatest.Cluster) *commits {
	t.Helper()
	w := &commits{t: t, at: make(map[int32]int64)}
	c.Now().ControlKey(int16(kmsg.OffsetCommit), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.Now().KeepControl()
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, topic := range req.(*kmsg.OffsetCommitRequest).Topics {
			for _, p := range topic.Partitions {
				if p.Offset < w.at[p.Partition] { // one whose answer was lost is made again
					t.Errorf("partition %d: %d is committed after %d", p.Partition, p.Offset, w.at[p.Partition])
				}
				w.at[p.Partition] = p.Offset
			}
		}
		return nil, nil, false
	})
	return w
}

func (w *commits) sum() (n int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, at := range w.at {
		n += at
	}
	return n
}

// owned is the number of partitions that a source has.
func owned(s *Source) (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.parts {
		if p.ours && !p.leaving {
			n++
		}
	}
	return n
}

// Members come and go while messages flow and end late: each message is worked on, none
// twice as long as everybody has the time to end what is in hand.
func TestMembersShareAndPassOnPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, partitions)
		w := watch(t, c)
		a := read(t, open(t, c, nil), 10_000)
		members := []*reader{a}
		produced := 0
		flow := func(rounds int) {
			for range rounds {
				spread(c, produced, produced+60)
				produced += 60
				time.Sleep(500 * time.Millisecond)
				for _, m := range members {
					m.end()
				}
			}
		}
		until(t, "all partitions", func() bool { return owned(a.Source) == partitions })
		flow(4)
		b := read(t, open(t, c, nil), 10_000)
		members = append(members, b)
		flow(60)
		if x, y := owned(a.Source), owned(b.Source); x != partitions/2 || y != partitions/2 {
			t.Errorf("the members have %d and %d partitions, want half each", x, y)
		}
		b.stop()
		flow(60)
		if n := owned(a.Source); n != partitions {
			t.Errorf("the member that is left has %d partitions, want all", n)
		}
		until(t, "the commit of everything", func() bool {
			a.end()
			b.end()
			return w.sum() == int64(produced)
		})
		got := slices.Concat(a.in.Lines(), b.in.Lines())
		slices.Sort(got)
		if distinct := len(slices.Compact(slices.Clone(got))); distinct != produced {
			t.Errorf("%d of %d messages were handed over", distinct, produced)
		}
		if len(got) != produced {
			t.Errorf("%d messages were handed over, %d of them again, want none again", len(got), len(got)-produced)
		}
	})
}

// A member that is thrown out of the group does not commit for the one behind it, and what
// comes to it again is not put in again while it has it in hand.
func TestAMemberThatWasThrownOutCommitsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, 1)
		c.Produce("events", 0, kafkatest.Lines(numbered(0, 10)...)...)
		a := read(t, open(t, c, nil), 100)
		until(t, "the messages", func() bool { return len(a.in.Lines()) == 10 })
		held := a.in.Take()
		held[0].Token.Settle()
		until(t, "the first commit", func() bool { return c.Committed("sluice-events", "events", 0) == 1 })
		c.Now().ControlKey(int16(kmsg.Heartbeat), func(req kmsg.Request) (kmsg.Response, error, bool) {
			resp := req.ResponseKind().(*kmsg.HeartbeatResponse)
			resp.ErrorCode = 25 // UNKNOWN_MEMBER_ID
			return resp, nil, true
		})
		until(t, "another session", func() bool { return valueOf(t, a.o.Metrics.rebalances) >= 2 && owned(a.Source) == 1 })
		time.Sleep(time.Minute)
		if n := len(a.in.Lines()); n != 10 {
			t.Errorf("%d messages were handed over, want 10: those that come again are in hand", n)
		}
		for _, l := range held[1:] {
			l.Token.Settle()
		}
		until(t, "the commit of all", func() bool { return c.Committed("sluice-events", "events", 0) == 10 })
	})
}

// A partition that moves in snapshot mode asks for a save, which lets it go.
func TestAPartitionThatMovesAsksForASave(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := cluster(t, modetest.Mode{}, partitions)
		w := watch(t, c)
		snapshot := func(o *Options) { o.Snapshot = true }
		a := read(t, open(t, c, snapshot), 1000)
		spread(c, 0, 60)
		until(t, "the messages", func() bool { return len(a.in.Lines()) == 60 })
		a.endIn(graph.NewEpoch(nil))
		b := read(t, open(t, c, snapshot), 1000)
		until(t, "a save that is asked for", a.asked)
		if n := w.sum(); n != 0 {
			t.Errorf("%d messages are committed before a save", n)
		}
		a.Positions().Saved(sources.Final)
		until(t, "the partitions", func() bool { return owned(b.Source) == partitions/2 })
		time.Sleep(time.Minute)
		if n := len(b.in.Lines()); n != 0 {
			t.Errorf("%d messages were handed over again, want none", n)
		}
	})
}

// The leaders of partitions and the coordinator of the group move among brokers, and
// brokers come and go, while messages flow.
func TestLeadersAndCoordinatorsThatMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := kafkatest.InMemory(t, kfake.Ports(9092, 9093, 9094), kfake.SeedTopics(partitions, "events"))
		w := watch(t, c)
		r := read(t, open(t, c, nil), 100_000)
		produced := 0
		for round := range 20 {
			spread(c, produced, produced+60)
			produced += 60
			switch round % 4 {
			case 0:
				c.Now().ShufflePartitionLeaders()
			case 1:
				c.Now().RehashCoordinators()
			case 2:
				c.Cut()
			}
			time.Sleep(3 * time.Second)
			r.end()
		}
		until(t, "the commit of everything", func() bool {
			r.end()
			return w.sum() == int64(produced)
		})
		if n := len(r.in.Lines()); n != produced {
			t.Errorf("%d messages were handed over, want %d", n, produced)
		}
	})
}
