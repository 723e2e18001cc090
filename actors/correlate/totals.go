package correlate

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/sluicehq/sluice/actors"
)

// Totals are the stage's counts since the start.
type Totals struct {
	Events       uint64 // evaluated
	Detections   uint64 // results
	Correlations uint64 // results
}

// Totals reads the stage's counters. It may be called from any goroutine.
func (s *Stage) Totals() Totals {
	return Totals{Events: total(s.metrics.processed), Detections: total(s.metrics.detections), Correlations: total(s.metrics.correlations)}
}

// status is what the status of the daemon shows of the stage.
func (s *Stage) status() []actors.Member {
	t := s.Totals()
	return []actors.Member{
		{Name: "correlation_state_entries", Value: s.Groups()},
		{Name: "events_processed", Value: t.Events},
		{Name: "detection_matches", Value: t.Detections},
		{Name: "correlation_matches", Value: t.Correlations},
	}
}

func total(c prometheus.Counter) uint64 {
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		return 0
	}
	return uint64(m.GetCounter().GetValue())
}
