package actors

import "github.com/prometheus/client_golang/prometheus"

// Collector exposes the actors' records as metrics, read at scrape. Names carry
// no product prefix: the daemon wraps the registerer once.
type Collector struct {
	system *System

	depth, capacity, restarts, quarantined, busy *prometheus.Desc
}

var _ prometheus.Collector = (*Collector)(nil)

// NewCollector returns the collector of a system's actors.
func NewCollector(s *System) *Collector {
	desc := func(name, help string) *prometheus.Desc {
		return prometheus.NewDesc("actor_"+name, help, []string{"actor"}, nil)
	}
	return &Collector{
		system:      s,
		depth:       desc("mailbox_depth", "Units waiting in the actor's data lane."),
		capacity:    desc("mailbox_capacity", "Capacity of the actor's data lane, in units."),
		restarts:    desc("restarts_total", "Restarts of the actor after a panic."),
		quarantined: desc("quarantined_total", "Events taken out because their own step panicked twice."),
		busy:        desc("busy_seconds_total", "Seconds the actor spent processing, summed over its workers."),
	}
}

// Describe sends the descriptors.
func (m *Collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{m.depth, m.capacity, m.restarts, m.quarantined, m.busy} {
		to <- d
	}
}

// Collect reads every actor.
func (m *Collector) Collect(to chan<- prometheus.Metric) {
	for _, a := range m.system.listed() {
		name, stats := a.cell.Name(), a.cell.Stats()
		gauge := func(d *prometheus.Desc, v float64) {
			to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, name)
		}
		counter := func(d *prometheus.Desc, v float64) {
			to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, name)
		}
		gauge(m.depth, float64(stats.Lane.Depth))
		gauge(m.capacity, float64(stats.Lane.Capacity))
		counter(m.restarts, float64(a.record().Restarts))
		counter(m.busy, stats.Busy.Seconds())
		if a.cell.Kind() == KindStage {
			counter(m.quarantined, float64(stats.Quarantined))
		}
	}
}
