package audit

import (
	"errors"

	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are the series of the audit trail.
type Metrics struct {
	records, errors prometheus.Counter
}

// NewMetrics registers the series: that of stored records only when the trail is on.
func NewMetrics(reg prometheus.Registerer, on bool) (*Metrics, error) {
	m := &Metrics{
		records: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "audit_records_total", Help: "Audit entries stored. Absent while the audit trail is off.",
		}),
		errors: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "audit_write_errors_total", Help: "Audit entries that could not be stored, pruned or passed to the audit sink.",
		}),
	}
	var err error
	if on {
		err = reg.Register(m.records)
	}
	return m, errors.Join(err, reg.Register(m.errors))
}
