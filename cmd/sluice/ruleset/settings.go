package ruleset

import (
	"log/slog"

	"github.com/sluicehq/sluice/cmd/sluice/config"
)

// Settings are what the configuration says about rules: which are loaded and how
// they are compiled.
type Settings struct {
	Options
	MatchDetail  string
	IncludeEvent bool
	ResultTime   bool
	Routing      *config.LogsourceRouting
	Correlation  *config.Correlation
	ActionGiven  bool              // Correlation.Action was chosen and is not the default
	Background   func(work func()) // as in engine.Options
}

// DaemonSettings gives the settings of the daemon.
func DaemonSettings(l *config.Loaded) Settings {
	c := &l.Config.Daemon
	return Settings{
		Options:     Options{Roots: c.Rules, Pipelines: c.Pipelines, MinLevel: c.MinLevel, ExcludeRules: c.ExcludeRules},
		MatchDetail: c.Engine.MatchDetail, IncludeEvent: c.Output.IncludeEvent, ResultTime: c.Output.ResultTime,
		Routing: &c.LogsourceRouting, Correlation: &c.Correlation,
		ActionGiven: l.Layer("daemon.correlation.action") != config.LayerDefault,
		Background:  func(work func()) { go work() }, // ends by itself or with its set, at most one of a set
	}
}

// EvalSettings gives the settings of a one-shot evaluation.
func EvalSettings(l *config.Loaded) Settings {
	c := &l.Config.Eval
	return Settings{
		Options:     Options{Roots: c.Rules, Pipelines: c.Pipelines, MinLevel: c.MinLevel, ExcludeRules: c.ExcludeRules},
		MatchDetail: c.MatchDetail, IncludeEvent: c.IncludeEvent, ResultTime: c.ResultTime,
		Routing: &c.LogsourceRouting, Correlation: &c.Correlation,
		ActionGiven: l.Layer("eval.--action") != config.LayerDefault,
	}
}

// onPanic logs what an engine has to say of work that failed beside the judging.
func onPanic(log *slog.Logger) func(value any, stack []byte) {
	return func(value any, stack []byte) {
		log.Error("preparing for a busy log source panicked, events are judged without", "panic", value, "stack", string(stack))
	}
}
