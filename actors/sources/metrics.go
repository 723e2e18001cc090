package sources

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/sources/fetch"
)

// Metrics are the series of the sources. Those with the id of a source appear with the first
// event of their kind.
type Metrics struct {
	resolves, errors *prometheus.CounterVec
	last             *prometheus.GaugeVec
	duration         prometheus.Histogram
	hits             prometheus.Counter
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		resolves: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "source_resolves_total", Help: "Attempts to resolve a dynamic source, by source and type. Each message counts, one that a newer value replaced before it was read as well.",
		}, []string{"source_id", "source_type"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "source_resolve_errors_total", Help: "Attempts to resolve a dynamic source that failed, by source and kind of error.",
		}, []string{"source_id", "error_kind"}),
		last: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "source_last_resolved_timestamp", Help: "When a dynamic source was last resolved anew, in Unix seconds.",
		}, []string{"source_id"}),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "source_resolve_seconds", Help: "Time of each attempt to resolve a dynamic source.",
			Buckets: []float64{0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10},
		}),
		hits: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "source_cache_hits_total", Help: "Cached values served because a fetch failed.",
		}),
	}
	return m, errors.Join(reg.Register(m.resolves), reg.Register(m.errors), reg.Register(m.last), reg.Register(m.duration), reg.Register(m.hits))
}

// totals are sums over all sources, for the status.
type totals struct{ resolves, errors, hits atomic.Int64 }

// count counts an outcome, once what became of it is counted.
func (s *Stage) count(o outcome, f effect, now time.Time) {
	m := s.o.Metrics
	defer func() {
		m.resolves.WithLabelValues(o.entry.ID, string(o.entry.Type)).Inc()
		s.totals.resolves.Add(1)
	}()
	m.duration.Observe(o.took.Seconds())
	switch {
	case o.failure != nil:
		m.errors.WithLabelValues(o.entry.ID, string(o.failure.Kind)).Inc()
		s.totals.errors.Add(1)
		if f.value.basis == cached {
			m.hits.Inc()
			s.totals.hits.Add(1)
		}
	case f.value.basis == fresh:
		m.last.WithLabelValues(o.entry.ID).Set(float64(now.UnixMicro()) / 1e6)
	}
}

// countMessages counts messages of a subscription. They have no duration.
func (s *Stage) countMessages(p pushed, now time.Time) {
	m := s.o.Metrics
	all := p.Messages()
	m.resolves.WithLabelValues(p.entry.ID, string(p.entry.Type)).Add(float64(all))
	s.totals.resolves.Add(int64(all))
	for kind, n := range p.Failed {
		m.errors.WithLabelValues(p.entry.ID, string(kind)).Add(float64(n))
	}
	s.totals.errors.Add(int64(all - p.Values))
	if p.JSON != nil {
		m.last.WithLabelValues(p.entry.ID).Set(float64(now.UnixMicro()) / 1e6)
	}
}

// Status is what the daemon's status shows of the sources.
type Status struct {
	Total     int   `json:"total"`
	Resolves  int64 `json:"resolves_total"`
	Errors    int64 `json:"errors_total"`
	CacheHits int64 `json:"cache_hits"`
	// Stored are sources in the order of their declarations.
	Stored []string `json:"stored,omitempty" doc:"Sources whose value is the one of the state database: no fetch has succeeded since the start. Absent when there is none"`
}

func (s *Stage) status() []actors.Member {
	t := &s.totals
	return []actors.Member{{Name: "dynamic_sources", Value: Status{len(s.o.Declarations), t.resolves.Load(), t.errors.Load(), t.hits.Load(), s.snapshot.Load().stored}}}
}

// errorOf is the error of a fetch, of which the package promises an *fetch.Error.
func errorOf(d *fetch.Declaration, err error) *fetch.Error {
	var known *fetch.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return known
	}
	return &fetch.Error{Source: d.ID, Kind: fetch.Fetch, Detail: err.Error()}
}
