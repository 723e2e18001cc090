package alert

import (
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/graph/alert/incident"
)

// action is what became of a result, or why there is a summary.
type action string

const (
	emitted  action = "emitted"
	folded   action = "folded"
	repeat   action = "repeat"
	resolved action = "resolved"
)

// guard is what kept a value from joining incidents.
type guard string

const (
	stopValue          guard = "stop_value"
	cardinalityCeiling guard = "cardinality_ceiling"
)

// Metrics are the series of the stage. They are touched by the actor alone, and read by
// scrapes.
type Metrics struct {
	emitted, folded, repeat, resolved     prometheus.Counter
	entries, open, silences, sources      prometheus.Gauge
	evictions, summaries, incidentRecords prometheus.Counter
	stopValues, ceiling                   prometheus.Counter
	triggers                              map[incident.Trigger]prometheus.Counter
	silenced                              prometheus.Counter
	inhibited                             *prometheus.CounterVec
	duration                              prometheus.Histogram
}

// NewMetrics registers the series.
func NewMetrics(reg prometheus.Registerer) (*Metrics, error) {
	var errs []error
	register := func(c prometheus.Collector) { errs = append(errs, reg.Register(c)) }
	counter := func(name, help string) prometheus.Counter {
		c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
		register(c)
		return c
	}
	gauge := func(name, help string) prometheus.Gauge {
		g := prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
		register(g)
		return g
	}
	vector := func(name, help, label string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, []string{label})
		register(v)
		return v
	}
	results := vector("dedup_results_total", "Outcomes of deduplication, by action.", "action")
	merges := vector("incident_overmerge_total", "Grouping values that a guard kept from joining incidents, by guard.", "guard")
	records := vector("incidents_emitted_total", "Incident records emitted, by trigger.", "trigger")
	m := &Metrics{
		emitted: results.WithLabelValues(string(emitted)), folded: results.WithLabelValues(string(folded)),
		repeat: results.WithLabelValues(string(repeat)), resolved: results.WithLabelValues(string(resolved)),
		entries:         gauge("dedup_store_entries", "Active alerts in the deduplication store."),
		evictions:       counter("dedup_evictions_total", "Alerts removed from the deduplication store."),
		summaries:       counter("dedup_summaries_emitted_total", "Summary records emitted for repeated and resolved alerts."),
		open:            gauge("incidents_open", "Open incidents, those included that nobody has been told of yet."),
		incidentRecords: counter("incident_results_total", "Incident records emitted."),
		stopValues:      merges.WithLabelValues(string(stopValue)), ceiling: merges.WithLabelValues(string(cardinalityCeiling)),
		triggers:  make(map[incident.Trigger]prometheus.Counter),
		silenced:  counter("silenced_total", "Results muted by a silence."),
		silences:  gauge("silences_active", "Silences in force."),
		sources:   gauge("inhibit_sources_active", "Results that currently inhibit others."),
		inhibited: vector("inhibited_total", "Results dropped by an inhibition rule, by rule.", "rule"),
		duration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "alert_pipeline_duration_seconds", Help: "Time the alert pipeline takes for a result set or a tick.",
			Buckets: []float64{0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1},
		}),
	}
	register(m.duration)
	for _, t := range incident.Triggers() {
		m.triggers[t] = records.WithLabelValues(string(t))
	}
	return m, errors.Join(errs...)
}

// count counts what happened to a result.
func (m *Metrics) count(o *alert.Outcome) {
	add(m.emitted, o.Emitted)
	add(m.folded, o.Folded)
	add(m.silenced, o.Silenced)
	add(m.stopValues, o.StopValues)
	add(m.ceiling, o.Ceiling)
	for _, rule := range o.Inhibited {
		m.inhibited.WithLabelValues(rule).Inc()
	}
}

// ticked counts what came out of a tick.
func (m *Metrics) ticked(t *alert.Ticked) {
	add(m.repeat, t.Repeated)
	add(m.resolved, t.Resolved)
	add(m.evictions, t.Resolved)
	add(m.summaries, t.Repeated+t.Resolved)
	for trigger, n := range t.Incidents {
		add(m.triggers[trigger], n)
		add(m.incidentRecords, n)
	}
}

func add(c prometheus.Counter, n int) {
	if n > 0 {
		c.Add(float64(n))
	}
}

// hold shows the sizes of the state.
func (m *Metrics) hold(c alert.Counts) {
	m.held(c.Alerts, c.Incidents)
	m.silences.Set(float64(c.ActiveSilences))
	m.sources.Set(float64(c.Sources))
}

// held shows how many alerts are active, and how many incidents are open.
func (m *Metrics) held(alerts, incidents int) {
	m.entries.Set(float64(alerts))
	m.open.Set(float64(incidents))
}

func (m *Metrics) took(d time.Duration) { m.duration.Observe(d.Seconds()) }
