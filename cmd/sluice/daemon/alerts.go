package daemon

import (
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
)

// alerts are the options of the stage of the alert pipeline. What is stored of silences is
// theirs whatever is decided about the state of the stages.
func (d *Daemon) alerts() (o alert.Options, err error) {
	o.Log = logging.Target(d.log, "sluice.alert")
	if c := d.checkpointer; c != nil {
		o.Rows, o.Clear, o.Kept = c.store.Table("silences"), d.cfg.State.Clear, true
	}
	o.File, err = alert.Load(d.cfg.AlertPipeline, o.Log)
	return o, err
}
