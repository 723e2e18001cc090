package ruleset

import (
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/engine"
)

// Routing gives the engine's form of the setting; nil when routing is off.
func Routing(c *config.LogsourceRouting) *engine.Routing {
	if !c.Enabled {
		return nil
	}
	return &engine.Routing{Fields: logsource(&c.FieldMap), Static: logsource(&c.EventLogsource)}
}

func logsource(d *config.Dimensions) sigma.Logsource {
	return sigma.Logsource{Product: d.Product, Service: d.Service, Category: d.Category, Custom: d.Custom}
}
