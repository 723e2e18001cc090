package checks

import (
	"errors"

	"github.com/sluicehq/sluice/actors/sink"
)

// auditSpecs are the specs of the sink of the audit trail: one when it is opened, else
// none.
func (c *checking) auditSpecs() []sink.Spec {
	a := c.d.API.Audit
	if !a.On(c.d.State.DB != "") {
		return nil
	}
	specs, _, err := a.Specs()
	if err != nil {
		return nil // the value is reported already
	}
	return specs
}

// auditSink looks at the destination of the audit trail, which is no other sink's file.
func (c *checking) auditSink() {
	const path = "daemon.api.audit.sink"
	a := c.d.API.Audit
	if a.Sink != "" && !a.On(c.d.State.DB != "") {
		c.warn(path, errors.New("has no effect without the audit trail, which needs a state database (--state-db)"))
		return
	}
	specs := c.auditSpecs()
	if len(specs) == 0 {
		return
	}
	c.destination(path, a.Sink, sink.RoleAudit)
	others := c.specs()
	if sink.Distinct(others) != nil {
		return // which is reported already
	}
	if err := sink.Distinct(append(others, specs...)); err != nil {
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
