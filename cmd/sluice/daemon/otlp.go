//go:build !no_otlp

package daemon

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/cmd/sluice/inputs"
	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/http/auth"
	"github.com/sluicehq/sluice/otlp/ingest"
)

// receiver takes in log records over OTLP, whatever the inputs are.
type receiver struct {
	metrics *ingest.Metrics
	calls   *ingest.Calls
}

// register registers the series of the receiver.
func (r *receiver) register(reg prometheus.Registerer) (err error) {
	r.metrics, err = ingest.NewMetrics(reg)
	return err
}

// answerCalls has calls over gRPC answered from now on. The gate is nil without authentication.
func (d *Daemon) answerCalls(gate *auth.Gate) {
	d.receiver.calls = ingest.NewCalls(gate.Call)
	d.server.MountCalls(d.receiver.calls)
}

// mountLogs has log records taken in.
func (d *Daemon) mountLogs(r *api.Resources) {
	in := d.dataflow.Parse.IntakeOf(len(d.from), inputs.Logs, time.Now)
	n := ingest.NewIntake(in, int64(d.cfg.Input.HTTP.MaxBodyBytes), d.receiver.metrics)
	r.Logs = n
	d.receiver.calls.Mount(n)
}
