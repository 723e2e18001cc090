package kafka

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
)

// hoard is an intake that keeps what it is given as it is.
type hoard struct {
	want int
	full chan struct{}

	mu       sync.Mutex // guards the rest
	lines    []graph.Line
	excerpts [][]byte
}

func (h *hoard) Put(_ context.Context, run []graph.Line) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lines = append(h.lines, run...)
	h.come()
	return len(run), nil
}

func (h *hoard) Oversize(_ context.Context, excerpt []byte, _ graph.Token) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.excerpts = append(h.excerpts, excerpt)
	h.come()
	return nil
}

func (h *hoard) come() {
	if len(h.lines)+len(h.excerpts) == h.want {
		close(h.full)
	}
}

// What waits of an answer keeps the rest of it from being used again.
func TestLinesThatWaitKeepLittleMoreThanThemselves(t *testing.T) {
	const event = `{"CommandLine":"whoami"}`
	noise := rand.NewChaCha8([32]byte{1})
	random := func(n int) []byte { b := make([]byte, n); _, _ = noise.Read(b); return b }
	for _, tc := range []struct {
		name     string
		messages func(i int) []*kgo.Record // of one batch
		batches  int
		lines    int // of each
		excerpts int
	}{
		{"an event beside a message that is too long", func(int) []*kgo.Record {
			return []*kgo.Record{{Value: []byte(event)}, {Value: random(3 << 20)}}
		}, 30, 1, 1},
		{"an event beside a long one of blanks", func(int) []*kgo.Record {
			return []*kgo.Record{{Value: []byte(event)}, {Value: bytes.Repeat([]byte(" "), 3<<20)}}
		}, 30, 1, 0},
		{"an event with a long key", func(int) []*kgo.Record {
			return []*kgo.Record{{Key: random(1 << 20), Value: []byte(event)}}
		}, 60, 1, 0},
		{"an event with a long header", func(int) []*kgo.Record {
			return []*kgo.Record{{Headers: []kgo.RecordHeader{{Key: "h", Value: random(1 << 20)}}, Value: []byte(event)}}
		}, 60, 1, 0},
		{"more events than are read at once before a message that is too long", func(int) (all []*kgo.Record) {
			for range 600 {
				all = append(all, kgo.StringRecord(event))
			}
			return append(all, &kgo.Record{Value: random(3 << 20)})
		}, 30, 600, 1},
	} {
		for _, codec := range []kgo.CompressionCodec{kgo.NoCompression(), kgo.ZstdCompression()} {
			t.Run(tc.name, func(t *testing.T) {
				c := cluster(t, modetest.Mode{}, 1, kfake.BrokerConfigs(map[string]string{"message.max.bytes": "8000000"}))
				producer := c.Client(kgo.ProducerBatchCompression(codec), kgo.ProducerBatchMaxBytes(8000000), kgo.DefaultProduceTopic("events"), kgo.RecordPartitioner(kgo.ManualPartitioner()))
				for i := range tc.batches {
					if err := producer.ProduceSync(t.Context(), tc.messages(i)...).FirstErr(); err != nil {
						t.Fatal(err)
					}
				}
				producer.Close()
				h := &hoard{want: tc.batches * (tc.lines + tc.excerpts), full: make(chan struct{})}
				s := open(t, c, func(o *Options) { o.Pending = 100_000 })
				before := heap()
				ctx, cancel := context.WithCancel(t.Context())
				ended := make(chan error, 1)
				go func() { ended <- s.Run(ctx, h) }()
				<-h.full
				cancel()
				if err := <-ended; err != nil {
					t.Error(err)
				}
				if err := s.Close(t.Context()); err != nil {
					t.Error(err)
				}
				kept := len(h.lines)*(len(event)+200) + len(h.excerpts)*sources.ExcerptSize
				if got := heap() - before; got > kept+20<<20 { // beside what decoders and ledgers have
					t.Errorf("%d events and %d excerpts keep %d KiB, want about %d", len(h.lines), len(h.excerpts), got>>10, kept>>10)
				}
				for _, l := range h.lines {
					if string(l.Raw) != event {
						t.Fatalf("an event is %.100q", l.Raw)
					}
				}
				if len(h.lines) != tc.batches*tc.lines || len(h.excerpts) != tc.batches*tc.excerpts {
					t.Errorf("%d events and %d excerpts came", len(h.lines), len(h.excerpts))
				}
				runtime.KeepAlive(h)
			})
		}
	}
}

func heap() int {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools have
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

func TestLinesAreCopiedWhereTheyAreTheSmallerPart(t *testing.T) {
	record := func(value, key int) *kgo.Record {
		return &kgo.Record{Value: bytes.Repeat([]byte("v"), value), Key: make([]byte, key)}
	}
	var a apart
	for i, tc := range []struct {
		name   string
		value  int
		key    int
		others int // messages of a MiB that become no line
		copied bool
	}{
		{"a message alone", 100, 0, 0, false},
		{"with a short key", 100, 20, 0, false},
		{"with a longer key", 100, 210, 0, true},
		{"beside one that is no line", 1000, 0, 1, true},
		{"behind it", 1000, 0, 0, true},
		{"far behind it", 1 << 20, 0, 0, false},
		{"as much again", 100, 0, 0, false},
		{"beside so many that not all are remembered", 100, 0, 100, true},
		{"far behind them", 17 << 20, 0, 0, false},
		{"and further", 100, 0, 0, false},
	} {
		r := record(tc.value, tc.key)
		a.arrived(r)
		for range tc.others {
			a.arrived(record(1<<20, 0))
		}
		run := []graph.Line{{Raw: r.Value}}
		a.lines(run)
		if got := &run[0].Raw[0] != &r.Value[0]; got != tc.copied || string(run[0].Raw) != string(r.Value) {
			t.Errorf("%d: %s: copied %t, want %t", i, tc.name, got, tc.copied)
		}
	}
}

func TestCopiesHoldEveryLine(t *testing.T) {
	for _, sizes := range [][]int{{1}, {1, 2, 3}, {pieceBytes/4 + 1, 1}, {1, pieceBytes, 1}, {5000, 5000, 5000, 5000, 5000, 5000, 5000, 5000, 9000, 1}} {
		var run []graph.Line
		var want []string
		all := 0
		for i, n := range sizes {
			want = append(want, strings.Repeat(fmt.Sprint(i), n))
			run = append(run, graph.Line{Raw: []byte(want[i])})
			all += n
		}
		copyLines(run, all)
		for i := range run {
			if string(run[i].Raw) != want[i] || cap(run[i].Raw) > len(want[i])+pieceBytes/4 {
				t.Errorf("lines of %v: line %d is %.20q with room for %d", sizes, i, run[i].Raw, cap(run[i].Raw))
			}
		}
	}
}

func BenchmarkLinesThatAreNotCopied(b *testing.B) {
	record := &kgo.Record{Key: make([]byte, 16), Value: make([]byte, 500)}
	run := make([]graph.Line, maxRun)
	for i := range run {
		run[i].Raw = record.Value
	}
	var a apart
	b.ReportAllocs()
	b.SetBytes(maxRun * 500)
	for b.Loop() {
		for range run {
			a.arrived(record)
		}
		a.lines(run)
	}
}
