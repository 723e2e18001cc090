package correlate

import (
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/sluicehq/sluice/actors"
)

// status is what the status of the daemon shows of the stage.
func (s *Stage) status() []actors.Member {
	return []actors.Member{
		{Name: "correlation_state_entries", Value: s.Groups()},
		{Name: "events_processed", Value: total(s.metrics.processed)},
		{Name: "detection_matches", Value: total(s.metrics.detections)},
		{Name: "correlation_matches", Value: total(s.metrics.correlations)},
	}
}

func total(c prometheus.Counter) uint64 {
	var m dto.Metric
	if err := c.Write(&m); err != nil {
		return 0
	}
	return uint64(m.GetCounter().GetValue())
}
