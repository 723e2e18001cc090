package config

import "github.com/sluicehq/sluice/cmd/sluice/ruleset"

// DaemonRules gives the settings that make the rule set of the daemon.
func (l *Loaded) DaemonRules() ruleset.Settings {
	c := &l.Config.Daemon
	return ruleset.Settings{
		Options:     c.Options(),
		MatchDetail: c.Engine.MatchDetail, IncludeEvent: c.Output.IncludeEvent, ResultTime: c.Output.ResultTime,
		Routing: &c.LogsourceRouting, Correlation: &c.Correlation,
		ActionGiven: l.Layer("daemon.correlation.action") != LayerDefault,
		Background:  func(work func()) { go work() }, // ends by itself or with its set, at most one of a set
	}
}

// EvalRules gives the settings that make the rule set of a one-shot evaluation.
func (l *Loaded) EvalRules() ruleset.Settings {
	c := &l.Config.Eval
	return ruleset.Settings{
		Options:     c.Options(),
		MatchDetail: c.MatchDetail, IncludeEvent: c.IncludeEvent, ResultTime: c.ResultTime,
		Routing: &c.LogsourceRouting, Correlation: &c.Correlation,
		ActionGiven: l.Layer("eval.--action") != LayerDefault,
	}
}
