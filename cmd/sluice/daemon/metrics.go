package daemon

import (
	"errors"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/dataflow"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/cmd/sluice/inputs"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/http/audit"
	"github.com/sluicehq/sluice/http/auth"
	"github.com/sluicehq/sluice/internal/unavailable"
)

// series are those of the features. They are made before the features, so that
// every scrape finds them.
type series struct {
	inputs  *inputs.Metrics
	sinks   *sink.Metrics
	rules   *ruleset.Metrics
	stages  *dataflow.Metrics
	reloads *reload.Metrics
	sources *sources.Metrics
	audit   *audit.Metrics
	auth    *auth.Metrics // nil without authentication
}

// register makes the registry with all series at zero.
func (d *Daemon) register() error {
	d.registry = prometheus.NewRegistry()
	reg := prometheus.WrapRegistererWithPrefix(metricPrefix, d.registry)
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "build_info", Help: "Always 1; the labels name release, source revision and Go version.",
	}, []string{"version", "revision", "goversion"})
	build.WithLabelValues(d.o.Version, d.o.Revision, runtime.Version()).Set(1)
	uptime := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "uptime_seconds", Help: "Seconds since the start.",
	}, func() float64 { return time.Since(d.begun).Seconds() })
	var errs [8]error
	d.series = &series{}
	d.series.sinks, errs[0] = sink.NewMetrics(reg)
	d.series.rules, errs[1] = ruleset.NewMetrics(reg)
	d.series.stages, errs[2] = newStageMetrics(reg, d.cfg)
	d.series.reloads, errs[3] = reload.NewMetrics(reg)
	d.series.sources, errs[7] = sources.NewMetrics(reg)
	d.series.audit, errs[4] = audit.NewMetrics(reg, d.audits())
	d.series.inputs, errs[6] = inputs.NewMetrics(reg)
	if d.policy != nil {
		d.series.auth, errs[5] = auth.NewMetrics(reg)
	}
	return errors.Join(errors.Join(errs[:]...), reg.Register(build), reg.Register(uptime),
		d.registry.Register(collectors.NewGoCollector()), d.registry.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})),
		reg.Register(actors.NewCollector(d.system)), d.server.Register(reg), d.receiver.register(reg), unavailable.Register(reg))
}
