//go:build !race

package kafka

import (
	"bytes"
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/modetest"
	"github.com/sluicehq/sluice/sources"
)

// hoard is an intake that keeps some of what it is given.
type hoard struct {
	want  int
	every int // line is kept; the others end at once
	full  chan struct{}

	mu       sync.Mutex   // guards the rest
	lines    []graph.Line // those that are kept
	all      int
	excerpts [][]byte
}

func (h *hoard) Put(_ context.Context, run []graph.Line) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range run {
		if h.all++; h.all%h.every == 0 {
			h.lines = append(h.lines, run[i])
		} else {
			graph.ReleaseLines(run[i : i+1])
		}
	}
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
	if h.all+len(h.excerpts) == h.want {
		close(h.full)
	}
}

// What waits of an answer of a broker does not hold the rest of it.
func TestLinesThatWaitKeepLittleMoreThanThemselves(t *testing.T) {
	const event = `{"CommandLine":"whoami"}`
	noise := rand.NewChaCha8([32]byte{1})
	random := func(n int) []byte { b := make([]byte, n); _, _ = noise.Read(b); return b }
	for _, tc := range []struct {
		name     string
		messages func(i int) []*kgo.Record // of one batch
		batches  int
		lines    int // of each
		every    int // of them waits
		excerpts int
	}{
		{"an event beside a message that is too long", func(int) []*kgo.Record {
			return []*kgo.Record{{Value: []byte(event)}, {Value: random(3 << 20)}}
		}, 16, 1, 1, 1},
		{"an event beside a long one of blanks", func(int) []*kgo.Record {
			return []*kgo.Record{{Value: []byte(event)}, {Value: bytes.Repeat([]byte(" "), 3<<20)}}
		}, 16, 1, 1, 0},
		{"an event with a long key", func(int) []*kgo.Record {
			return []*kgo.Record{{Key: random(1 << 20), Value: []byte(event)}}
		}, 48, 1, 1, 0},
		{"an event with a long header", func(int) []*kgo.Record {
			return []*kgo.Record{{Headers: []kgo.RecordHeader{{Key: "h", Value: random(1 << 20)}}, Value: []byte(event)}}
		}, 48, 1, 1, 0},
		{"more events than are read at once before a message that is too long", func(int) (all []*kgo.Record) {
			for range 600 {
				all = append(all, kgo.StringRecord(event))
			}
			return append(all, &kgo.Record{Value: random(3 << 20)})
		}, 16, 600, 1, 1},
		{"one event of thousands", func(int) (all []*kgo.Record) {
			for range 5000 {
				all = append(all, &kgo.Record{Value: []byte(event), Headers: []kgo.RecordHeader{{Key: "h", Value: random(600)}}})
			}
			return all
		}, 16, 5000, 5000, 0},
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
				h := &hoard{want: tc.batches * (tc.lines + tc.excerpts), every: tc.every, full: make(chan struct{})}
				s := open(t, c, func(o *Options) { o.Pending = 1_000_000 })
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
				kept := 24<<20 + len(h.excerpts)*sources.ExcerptSize // what decoders and ledgers have, too
				if got := heap() - before; got > kept {
					t.Errorf("%d events and %d excerpts keep %d KiB, want about %d", len(h.lines), len(h.excerpts), got>>10, kept>>10)
				}
				for _, l := range h.lines {
					if string(l.Raw) != event {
						t.Fatalf("an event is %.100q", l.Raw)
					}
				}
				if h.all != tc.batches*tc.lines || len(h.excerpts) != tc.batches*tc.excerpts {
					t.Errorf("%d events and %d excerpts came", h.all, len(h.excerpts))
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
