package checks

import (
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/actors/sink/webhook"
)

// webhooks are those of the configuration.
type webhooks struct {
	loaded []*webhook.Webhook
	faulty bool // some are refused, so nobody knows all of them
}

// loadWebhooks reads the files of webhooks, and blames them for what is wrong in them.
func (c *checking) loadWebhooks() {
	loaded, faults := c.d.Output.LoadWebhooks(c.d.Engine.Policy(), c.getenv, nil)
	c.webhooks = webhooks{loaded, len(faults) > 0}
	for _, f := range faults {
		p := c.l.Problem(fmt.Sprintf("daemon.output.webhooks[%d]", f.Path), f.Err)
		if f.File != "" { // else the setting is to blame
			p.File, p.Line = f.File, f.Line
		}
		c.problems = append(c.problems, p)
	}
}

// actors are the names of the webhooks' actors.
func (w *webhooks) actors() (names []string) {
	for _, one := range w.loaded {
		names = append(names, "sink:"+one.ID)
	}
	return names
}

// mayHave reports whether an actor that is not known may be that of a webhook that is
// refused.
func (w *webhooks) mayHave(actor string) bool {
	return w.faulty && strings.HasPrefix(actor, "sink:")
}
