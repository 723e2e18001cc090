package ruleset

import (
	"log/slog"

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

// OnPanic logs what an engine has to say of work that failed beside the judging.
func OnPanic(log *slog.Logger) func(value any, stack []byte) {
	return func(value any, stack []byte) {
		log.Error("preparing for a busy log source panicked, events are judged without", "panic", value, "stack", string(stack))
	}
}

func logsource(d *config.Dimensions) sigma.Logsource {
	return sigma.Logsource{Product: d.Product, Service: d.Service, Category: d.Category, Custom: d.Custom}
}
