package kafka

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
)

// poisoned makes records that are given back useless, so that who still reads them is seen.
type poisoned struct {
	records
	back atomic.Int64 // how often
}

var poison = []byte("poison")

func (p *poisoned) PutRecords(all []kgo.Record) {
	p.back.Add(1)
	for i := range all {
		all[i] = kgo.Record{Key: poison, Value: poison, Topic: "poison", Partition: 99, Offset: 1 << 40, Timestamp: time.Unix(1, 0), Headers: []kgo.RecordHeader{{Key: "poison"}}}
	}
	p.records.PutRecords(all)
}

// Lines, positions and excerpts that outlive a run are those of their messages, whatever
// becomes of the memory of records.
func TestNothingIsReadOfRecordsThatWereGivenBack(t *testing.T) {
	const partitions, batches = 4, 30
	c := cluster(t, modetest.Mode{}, partitions, kfake.BrokerConfigs(map[string]string{"message.max.bytes": "8000000"}))
	random := rand.New(rand.NewPCG(1, 2))
	codecs := []kgo.CompressionCodec{kgo.NoCompression(), kgo.SnappyCompression(), kgo.ZstdCompression()}
	type place struct {
		partition int32
		offset    int64
	}
	want := make(map[place]string) // lines
	long := make(map[string]bool)  // excerpts
	for partition := range int32(partitions) {
		offset := int64(0)
		for batch := range batches {
			var values [][]byte
			for range 1 + random.IntN(60) {
				text := fmt.Sprintf(`{"partition":%d,"offset":%d,"x":"%s"}`, partition, offset, strings.Repeat("x", random.IntN(2000)))
				switch random.IntN(20) {
				case 0:
					values = append(values, nil)
				case 1:
					values = append(values, []byte(" \n"))
				case 2:
					if batch%10 == 0 {
						text += strings.Repeat(" ", sources.MaxLine)
						long[text[:sources.ExcerptSize]] = true
					} else {
						want[place{partition, offset}] = text
					}
					values = append(values, []byte(text))
				default:
					values = append(values, []byte(text))
					want[place{partition, offset}] = text
				}
				offset++
			}
			cl := c.Client(kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerBatchMaxBytes(8<<20), kgo.ProducerBatchCompression(codecs[batch%len(codecs)]))
			kafkatest.Produce(t, cl, "events", partition, values...)
			cl.Close()
		}
	}
	pool := new(poisoned)
	read := func(settle func(i int) bool) (lines []graph.Line, excerpts []string) {
		r := read(t, open(t, c, func(o *Options) { o.pool, o.Pending = pool, 100_000 }), 10)
		defer r.stop()
		epoch := graph.NewEpoch(nil)
		for begun := time.Now(); len(lines) < len(want) && time.Since(begun) < time.Minute; time.Sleep(time.Millisecond) {
			for _, l := range r.in.Take() {
				lines = append(lines, l)
				if settle(len(lines)) {
					l.Token.In(epoch).Settle()
				}
			}
		}
		return lines, r.in.Excerpts()
	}
	check := func(name string, lines []graph.Line, excerpts []string) {
		seen := make(map[place]bool)
		for _, l := range lines {
			at, ok := l.Token.Position()
			var p place
			if _, err := fmt.Sscanf(at.Stream, "events/%d@", &p.partition); !ok || err != nil || at.Time != 1_700_000_000 {
				t.Fatalf("%s: a line has the position %+v", name, at)
			}
			p.offset = int64(at.Sequence) - 1
			if got := string(l.Raw); got != want[p] || seen[p] {
				t.Fatalf("%s: the line at %v is %.80q, want %.80q once", name, p, got, want[p])
			}
			seen[p] = true
		}
		if len(seen) != len(want) {
			t.Errorf("%s: %d lines, want %d", name, len(seen), len(want))
		}
		for _, x := range excerpts {
			if !long[x] {
				t.Errorf("%s: an excerpt is %.80q", name, x)
			}
		}
	}
	first, excerpts := read(func(int) bool { return false }) // nothing of which is committed
	check("the first time", first, excerpts)
	if len(excerpts) != len(long) || len(long) == 0 {
		t.Errorf("%d excerpts, want %d", len(excerpts), len(long))
	}
	again, excerpts := read(func(int) bool { return true })
	check("delivered again", again, excerpts)
	check("the first time, looked at again", first, nil)
	if n := pool.back.Load(); n < partitions*batches/2 {
		t.Errorf("records were given back %d times, which tests nothing", n)
	}
	r := open(t, c, nil)
	defer r.die()
	for partition := range int32(partitions) {
		end := c.Now().PartitionInfo("events", partition).HighWatermark
		if got := c.Committed("sluice-events", "events", partition); got != end {
			t.Errorf("partition %d is committed up to %d, want %d", partition, got, end)
		}
	}
}
