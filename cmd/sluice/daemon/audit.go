package daemon

import (
	"net/http"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/http/api"
	"github.com/sluicehq/sluice/http/audit"
	"github.com/sluicehq/sluice/http/auth"
)

// audits reports whether changes over the API are recorded.
func (d *Daemon) audits() bool { return d.cfg.API.Audit.On(d.cfg.State.DB != "") }

// openAudit opens the audit trail, when there is to be one.
func (d *Daemon) openAudit() (err error) {
	if !d.audits() {
		return nil
	}
	d.trail, err = audit.Open(audit.Options{
		Config: d.cfg.API.Audit, Rows: d.checkpointer.store.Table(audit.Name), Interval: d.checkpointer.interval, Now: time.Now,
		Metrics: d.series.audit, Log: logging.Target(d.log, "sluice.audit"), Token: auth.Caller,
	})
	if err != nil {
		return err
	}
	d.features = append(d.features, d.trail.Feature())
	return nil
}

// audited is how the API has its endpoints recorded, nil when nobody does.
func (d *Daemon) audited() func(api.Endpoint, http.Handler) http.Handler {
	if d.trail == nil {
		return nil
	}
	return func(e api.Endpoint, next http.Handler) http.Handler { return d.trail.Wrap(e.Pattern, next) }
}

// lineSinks describes the sinks of lines that features ask for.
func (d *Daemon) lineSinks() (sinks []sink.LineSink, err error) {
	if d.trail == nil {
		return nil, nil
	}
	s, err := d.trail.Sink()
	if s != nil {
		sinks = append(sinks, *s)
	}
	return sinks, err
}
