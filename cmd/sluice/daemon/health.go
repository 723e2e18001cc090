package daemon

import (
	"sync/atomic"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/http/api"
)

// health is what the probes ask. It is there before anything is loaded.
type health struct {
	serving atomic.Bool // rules loaded, stages running, not draining
	failed  atomic.Bool // the last reload of the rules failed
	system  atomic.Pointer[actors.System]
}

// Ready reports whether the rules last asked for are the ones that serve.
func (h *health) Ready() bool {
	if _, failing := h.Failing(); failing {
		return false
	}
	return h.serving.Load() && !h.failed.Load()
}

// Failing names an actor that has used up its restart budget.
func (h *health) Failing() (actor string, failing bool) {
	s := h.system.Load()
	if s == nil {
		return "", false
	}
	if names := s.Suspended(); len(names) > 0 {
		return names[0], true
	}
	return "", false
}

// Status tells the totals of the process.
func (d *Daemon) Status() []actors.Member { return d.features.status() }

// Rules tells what the serving rule set was made of.
func (d *Daemon) Rules() api.RuleReport { return d.serving.Load().summary(d.cfg.Rules) }

// Catalog lists the rules that serve.
func (d *Daemon) Catalog() *catalog.Catalog { return d.serving.Load().set.Catalog }
