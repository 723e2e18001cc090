package checks

import (
	"errors"

	"github.com/sluicehq/sluice/actors/sink"
)

// auditSpec is the spec of the sink of the audit trail, nil when none is opened.
func (c *checking) auditSpec() *sink.Spec {
	a := c.d.API.Audit
	if !a.On(c.d.State.DB != "") {
		return nil
	}
	spec, _, err := a.Spec()
	if err != nil {
		return nil // the value is reported already
	}
	return spec
}

// auditSink looks at the destination of the audit trail, which is no other sink's file.
func (c *checking) auditSink() {
	const path = "daemon.api.audit.sink"
	a := c.d.API.Audit
	if a.Sink != "" && !a.On(c.d.State.DB != "") {
		c.warn(path, errors.New("has no effect without the audit trail, which needs a state database (--state-db)"))
		return
	}
	spec := c.auditSpec()
	if spec == nil {
		return
	}
	c.destination(path, a.Sink, sink.RoleAudit)
	others := c.specs()
	if sink.Distinct(others) != nil {
		return // which is reported already
	}
	if err := sink.Distinct(append(others, *spec)); err != nil {
		c.fault(path, err)
	}
}

// specs are the sinks of results and the dead letter queue. Errors are reported already.
func (c *checking) specs() []sink.Spec {
	specs := c.d.Output.Specs(func(int, error) {})
	if s, _, err := sink.ParseSpec(c.d.Output.DLQ, sink.RoleDLQ); err == nil {
		specs = append(specs, s)
	}
	return specs
}
