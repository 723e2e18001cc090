package correlate

import (
	"math"
	"sort"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// weighted is a histogram that takes many equal observations at the price of
// one: the time per event of a batch is observed once for each of its events.
type weighted struct {
	desc   *prometheus.Desc
	bounds []float64
	counts []atomic.Uint64 // per bucket, the last one for what is above all bounds
	sum    atomic.Uint64   // bits of a float64; one goroutine writes
}

func newWeighted(name, help string, bounds []float64) *weighted {
	return &weighted{
		desc: prometheus.NewDesc(name, help, nil, nil), bounds: bounds, counts: make([]atomic.Uint64, len(bounds)+1),
	}
}

// observe adds n observations of v. Only one goroutine may call it.
func (h *weighted) observe(v float64, n int) {
	h.counts[sort.SearchFloat64s(h.bounds, v)].Add(uint64(n))
	h.sum.Store(math.Float64bits(math.Float64frombits(h.sum.Load()) + v*float64(n)))
}

// Describe sends the descriptor.
func (h *weighted) Describe(to chan<- *prometheus.Desc) { to <- h.desc }

// Collect sends the state of the moment.
func (h *weighted) Collect(to chan<- prometheus.Metric) {
	var total uint64
	buckets := make(map[float64]uint64, len(h.bounds))
	for i, bound := range h.bounds {
		total += h.counts[i].Load()
		buckets[bound] = total
	}
	total += h.counts[len(h.bounds)].Load()
	to <- prometheus.MustNewConstHistogram(h.desc, total, math.Float64frombits(h.sum.Load()), buckets)
}
