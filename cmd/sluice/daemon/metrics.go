package daemon

import (
	"errors"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"github.com/sluicehq/sluice/actors/dataflow"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/internal/unavailable"
)

// processRegistry returns a registry with what does not depend on the
// configuration.
func (d *Daemon) processRegistry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	reg := prometheus.WrapRegistererWithPrefix(metricPrefix, r)
	build := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "build_info", Help: "Always 1; the labels name release, source revision and Go version.",
	}, []string{"version", "revision", "goversion"})
	build.WithLabelValues(d.o.Version, d.o.Revision, runtime.Version()).Set(1)
	uptime := prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "uptime_seconds", Help: "Seconds since the start.",
	}, func() float64 { return time.Since(d.begun).Seconds() })
	reg.MustRegister(build, uptime)
	r.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

// earlyRegistry returns what scrapes see until the rules are loaded: every family, at
// zero.
func (d *Daemon) earlyRegistry() (*prometheus.Registry, error) {
	r := d.processRegistry()
	reg := prometheus.WrapRegistererWithPrefix(metricPrefix, r)
	_, sinks := sink.NewMetrics(reg)
	_, reloads := reload.NewMetrics(reg)
	_, rules := ruleset.NewMetrics(reg)
	_, stages := dataflow.NewMetrics(reg, timed(d.cfg))
	return r, errors.Join(sinks, reloads, rules, stages, unavailable.Register(reg))
}
