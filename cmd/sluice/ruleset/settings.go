package ruleset

import (
	"log/slog"

	"github.com/sluicehq/sluice/actors/correlate"
)

// Settings are what the configuration says about rules: which are loaded and how
// they are compiled.
type Settings struct {
	Options
	MatchDetail  string
	IncludeEvent bool
	ResultTime   bool
	Routing      *LogsourceRouting
	Correlation  *correlate.Config
	ActionGiven  bool              // Correlation.Action was chosen and is not the default
	Background   func(work func()) // as in engine.Options
}

// onPanic logs what an engine has to say of work that failed beside the judging.
func onPanic(log *slog.Logger) func(value any, stack []byte) {
	return func(value any, stack []byte) {
		log.Error("preparing for a busy log source panicked, events are judged without", "panic", value, "stack", string(stack))
	}
}
