package correlate

import (
	"errors"
	"slices"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/result"
)

// fine are the bounds of histograms of short times.
var fine = [...]float64{0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1}

// phase is a part of a batch's way.
type phase string

const (
	phaseParse       phase = "parse"
	phaseDecodeMerge phase = "decode_merge"
	phaseObserve     phase = "observe"
	phaseEvaluate    phase = "evaluate"
	phaseResultMerge phase = "result_merge"
	phaseDispatch    phase = "dispatch"
)

// Metrics are the series of what a batch came to. They are touched by the actor
// alone, and read by scrapes.
type Metrics struct {
	groups, bytes                       atomic.Int64 // of the state of all correlations
	processed, detections, correlations prometheus.Counter
	byRule, byCorrelation               *prometheus.CounterVec
	perEvent                            *weighted
	latency                             prometheus.Histogram
	phase                               *prometheus.HistogramVec
	observers                           map[phase]prometheus.Observer
	effects                             effects

	rules   []perRule            // by load index of the serving set
	met     []uint32             // memory for load indexes of those that a batch met
	uppers  []prometheus.Counter // by load index of the serving set, made when first needed
	catalog *catalog.Catalog     // of the serving set; nil for none
	series  map[ruleSeries]int   // those there are; how many sets in a row have not had the rule
}

// perRule is the series of a rule.
type perRule struct {
	counter  prometheus.Counter // made when first needed
	rule     *result.Rule       // of results
	results  int                // of the batch in hand
	withheld int                // likewise, of a rule that only feeds others
}

// ruleSeries are the labels of a rule's series; kind is empty for detections.
type ruleSeries struct{ title, level, kind string }

// maxLabel is the size of the longest label value.
const maxLabel = 256

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	}
	coarse := append(slices.Clone(fine[:]), 0.5)
	m := &Metrics{
		processed:    counter("events_processed_total", "Decoded events evaluated."),
		detections:   counter("detection_matches_total", "Detection results, before enrichment and everything behind it."),
		correlations: counter("correlation_matches_total", "Correlation results, before enrichment and everything behind it."),
		byRule: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "detection_matches_by_rule_total", Help: "Detection results by rule.",
		}, []string{"rule_title", "level"}),
		byCorrelation: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "correlation_matches_by_rule_total", Help: "Correlation results by rule.",
		}, []string{"rule_title", "level", "correlation_type"}),
		perEvent: newWeighted("event_processing_seconds", "Evaluation time per event.", fine[:]),
		latency: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "pipeline_latency_seconds", Help: "Time from taking the first event of a batch to handing on its last result.", Buckets: coarse,
		}),
		phase: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "batch_phase_duration_seconds", Help: "Wall time per batch and phase.", Buckets: coarse,
		}, []string{"phase"}),
		observers: make(map[phase]prometheus.Observer),
		effects:   newEffects(),
		series:    make(map[ruleSeries]int),
	}
	for _, p := range []phase{phaseParse, phaseDecodeMerge, phaseObserve, phaseEvaluate, phaseResultMerge, phaseDispatch} {
		m.observers[p] = m.phase.WithLabelValues(string(p))
	}
	entries := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "correlation_state_entries", Help: "Live entries of correlation state, by correlation and group.",
	}, func() float64 { return float64(m.groups.Load()) })
	bytes := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "correlation_state_bytes", Help: "Bytes that correlation state takes by its account, suppression times without a group included.",
	}, func() float64 { return float64(m.bytes.Load()) })
	var errs []error
	for _, c := range append([]prometheus.Collector{
		m.processed, m.detections, m.correlations, m.byRule, m.byCorrelation, m.perEvent, m.latency, m.phase, entries, bytes,
	}, m.effects.collectors()...) {
		errs = append(errs, reg.Register(c))
	}
	return m, errors.Join(errs...)
}

// hold notes how large the state is.
func (m *Metrics) hold(e *correlation.Engine) {
	m.groups.Store(int64(e.Groups()))
	m.bytes.Store(int64(e.Bytes()))
}

// NewFallbacks registers the series of matches without a time of their own, which the
// stage before counts. timed says that they do not reach the correlations.
func NewFallbacks(reg prometheus.Registerer, timed bool) (*atomic.Uint64, error) {
	n, mode := new(atomic.Uint64), "wallclock"
	if timed {
		mode = "skip"
	}
	return n, reg.Register(prometheus.NewCounterFunc(prometheus.CounterOpts{
		Name: "correlation_timestamp_fallback_total", Help: "Matches for correlations of events without a usable time, by what is done with them.",
		ConstLabels: prometheus.Labels{"mode": mode},
	}, func() float64 { return float64(n.Load()) }))
}

// serve begins with the rule set of another reload, of the same rules perhaps. Series
// of rules that neither it nor the one before has are deleted.
func (m *Metrics) serve(set *graph.RuleSet) {
	rules, p := set.Engine.Rules(), set.Correlation
	m.rules, m.met, m.uppers = make([]perRule, len(rules)), nil, nil
	m.catalog = set.Catalog
	if p != nil {
		m.uppers = make([]prometheus.Counter, p.Len())
	}
	if len(m.series) == 0 {
		return
	}
	there := make(map[ruleSeries]bool, len(rules))
	for _, r := range rules {
		there[seriesOf(r)] = true
	}
	for i := range m.uppers {
		there[upperSeriesOf(p.At(i).Rule)] = true
	}
	for s, absent := range m.series {
		switch {
		case there[s]:
			m.series[s] = 0
		case absent > 0:
			m.drop(s)
		default:
			m.series[s] = 1
		}
	}
}

func (m *Metrics) drop(s ruleSeries) {
	if s.kind == "" {
		m.byRule.DeleteLabelValues(s.title, s.level)
	} else {
		m.byCorrelation.DeleteLabelValues(s.title, s.level, s.kind)
	}
	delete(m.series, s)
}

func seriesOf(r *result.Rule) ruleSeries {
	return ruleSeries{title: label(r.Title), level: r.LevelLabel()}
}

func upperSeriesOf(r *correlation.Rule) ruleSeries {
	return ruleSeries{title: label(r.Title), level: r.LevelLabel(), kind: string(r.Type)}
}

// label cuts a label value at a character boundary.
func label(s string) string {
	if len(s) <= maxLabel {
		return s
	}
	n := maxLabel
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// count adds what a batch came to at wall time now in Unix seconds.
func (m *Metrics) count(b *graph.Batch, begun step.Begun, now int64) {
	if begun.Events == 0 {
		return
	}
	m.processed.Add(float64(begun.Events))
	if begun.Detections == 0 && len(b.Withheld) == 0 {
		return
	}
	m.detections.Add(float64(begun.Detections))
	met := m.met[:0]
	for i := range b.Results.Len() {
		r := b.Results.At(i).Rule
		p := &m.rules[r.Index]
		if p.results++; p.results == 1 {
			p.rule = r
			met = append(met, uint32(r.Index))
		}
	}
	for _, index := range b.Withheld {
		p := &m.rules[index]
		if p.withheld++; p.withheld == 1 && p.results == 0 {
			met = append(met, index)
		}
	}
	for _, index := range met {
		m.hit(index, now)
	}
	m.met = met
}

// hit counts what the batch came to of one rule.
func (m *Metrics) hit(index uint32, now int64) {
	p := &m.rules[index]
	if p.results > 0 {
		if p.counter == nil {
			p.counter = m.rule(p.rule)
		}
		p.counter.Add(float64(p.results))
	}
	if m.catalog != nil {
		m.catalog.Detection(int(index)).Add(p.results+p.withheld, now)
	}
	p.results, p.withheld = 0, 0
}

func (m *Metrics) rule(r *result.Rule) prometheus.Counter {
	s := seriesOf(r)
	m.series[s] = 0
	return m.byRule.WithLabelValues(s.title, s.level)
}

// fired counts the result of a correlation at wall time now.
func (m *Metrics) fired(r *correlation.Rule, now int64) {
	m.correlations.Inc()
	if m.catalog != nil {
		m.catalog.Correlation(r.Index).Add(1, now)
	}
	c := m.uppers[r.Index]
	if c == nil {
		s := upperSeriesOf(r)
		c = m.byCorrelation.WithLabelValues(s.title, s.level, s.kind)
		m.uppers[r.Index], m.series[s] = c, 0
	}
	c.Inc()
}

// phases reports where the time of a batch went. A batch of which nothing was
// decoded was never observed, evaluated or merged.
func (m *Metrics) phases(b *graph.Batch, t *times) {
	see := func(p phase, d time.Duration) { m.observers[p].Observe(d.Seconds()) }
	see(phaseParse, b.Timing.Parse)
	see(phaseDecodeMerge, b.Timing.DecodeMerge)
	if b.Events.Len() > 0 {
		see(phaseObserve, b.Timing.Observe)
		see(phaseEvaluate, b.Timing.Evaluate+t.counting)
		see(phaseResultMerge, t.merging)
		if t.events > 0 {
			m.perEvent.observe((b.Timing.Evaluate+t.counting).Seconds()/float64(t.events), t.events)
		}
	}
	see(phaseDispatch, t.sending)
}
