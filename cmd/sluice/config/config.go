package config

import (
	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/actors/parse"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/cmd/sluice/ruleset"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/http/audit"
	"github.com/sluicehq/sluice/http/auth"
	"github.com/sluicehq/sluice/http/server"
	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/natsconn"
	"github.com/sluicehq/sluice/internal/unavailable"
	"github.com/sluicehq/sluice/sources/ndjson"
	"github.com/sluicehq/sluice/sources/syslog"
	"github.com/sluicehq/sluice/sources/unix"
	"github.com/sluicehq/sluice/state"
)

// Version is the newest layout of configuration files this release reads.
const Version = 1

// Config is the whole tree, composed of the features' own settings. Struct tags:
//
//	yaml    the key below its parent; "-" for settings only flags may give;
//	        ",inline" for settings that stand directly in the parent
//	help    what the setting is for; sections that share a flag share its text
//	flag    the flag, with its one-letter form behind a comma
//	env     a variable bound to the flag
//	word    what stands for the flag's value in help
//	oneof   the allowed words, separated by blanks
//	min,max the bounds of a number
//	mode    replace: a layer that names the section replaces all of it;
//	        value: a boolean flag that takes its value; on: the flag can only
//	        turn on; whole: the map is one leaf; one: a list that may be written
//	        as its only member; loose: in files and variables case and
//	        surrounding blanks do not matter, and true and false are words;
//	        mild: a word that is not allowed is warned about there and ignored
//
// A type with a method Validate(func(key string, err error)) reports what else
// is wrong with its values, by key below its own.
type Config struct {
	Version   int                   `yaml:"version" min:"1" help:"Layout of this file"`
	Global    Global                `yaml:"global"`
	Daemon    Daemon                `yaml:"daemon"`
	Eval      Eval                  `yaml:"eval"`
	Backtest  unavailable.Backtest  `yaml:"backtest"`
	Coverage  unavailable.Coverage  `yaml:"coverage"`
	Scorecard unavailable.Scorecard `yaml:"scorecard"`
	Hygiene   unavailable.Hygiene   `yaml:"hygiene"`
	Doc       unavailable.Doc       `yaml:"doc"`
}

// Global is what every command obeys.
type Global struct {
	// LogFormat is empty where nobody chose one: the daemon then logs text on a terminal and JSON elsewhere, and
	// other commands do not log.
	LogFormat    string `yaml:"log_format" flag:"log-format" oneof:"text json" help:"Form of log lines on stderr"`
	OutputFormat string `yaml:"output_format" flag:"output-format" oneof:"json ndjson table csv tsv" mode:"mild" help:"Form of the command's product"`
	Color        string `yaml:"color" flag:"color" oneof:"auto always never" mode:"mild" help:"Colour on a terminal"`
	LogLevel     string `yaml:"-" flag:"log-level" oneof:"off error warn info debug trace" help:"Least severe level that is logged; stands for SLUICE_LOG with that one level"`
	Quiet        bool   `yaml:"-" flag:"quiet,q" help:"No progress, summaries or fallback warnings"`
	NoStats      bool   `yaml:"-" flag:"no-stats" help:"No summary line"`
}

// Daemon is the section of the service.
type Daemon struct {
	ruleset.Config   `yaml:",inline"`
	Sources          []string                 `yaml:"sources" flag:"source" help:"File or directory of dynamic sources; repeatable"`
	Enrichers        string                   `yaml:"enrichers" flag:"enrichers" help:"File of enrichers"`
	AlertPipeline    string                   `yaml:"alert_pipeline" flag:"alert-pipeline" help:"File of the alert pipeline"`
	Risk             string                   `yaml:"risk" flag:"risk" help:"File of the risk layer"`
	Input            Input                    `yaml:"input"`
	API              API                      `yaml:"api"`
	Output           sink.Config              `yaml:"output"`
	Correlation      correlate.Config         `yaml:"correlation"`
	State            state.Config             `yaml:"state"`
	Engine           evaluate.Config          `yaml:"engine"`
	Schema           unavailable.Schema       `yaml:"schema"`
	LogsourceRouting ruleset.LogsourceRouting `yaml:"logsource_routing"`
	NATS             NATS                     `yaml:"nats"`
	Kafka            kafkaconn.Config         `yaml:"kafka"`
	Tap              unavailable.Tap          `yaml:"tap"`
	Tail             unavailable.Tail         `yaml:"tail"`
	Dispositions     unavailable.Dispositions `yaml:"dispositions"`
	Capture          unavailable.Capture      `yaml:"capture"`
	// Mailboxes overrides the capacity of single actors, by actor name.
	Mailboxes map[string]int `yaml:"mailboxes" flag:"mailbox-size" min:"1" max:"1000000" help:"Capacity of one actor's mailbox, STAGE=N; repeatable"`
	Actors    actors.Config  `yaml:"actors"`
}

// Input says where events come from, with a section for each input that has one.
type Input struct {
	parse.Config `yaml:",inline"`
	HTTP         ndjson.Config `yaml:"http"`
	Unix         unix.Config   `yaml:"unix"`
	Syslog       syslog.Config `yaml:"syslog"`
}

// NATS is how to reach NATS, and how to read from it.
type NATS struct {
	natsconn.Config `yaml:",inline"`
	natsconn.Input  `yaml:",inline"`
}

// API is the listener, who may use it, and the record of who did.
type API struct {
	server.Config `yaml:",inline"`
	TokenEnv      string       `yaml:"-" flag:"api-token-env" help:"Variable that holds the one admin token"`
	Auth          *auth.Config `yaml:"auth" mode:"replace"` // nil: no authentication configured here
	Audit         audit.Config `yaml:"audit" mode:"replace"`
	EnablePprof   bool         `yaml:"-" flag:"enable-pprof" help:"Serve profiles under /debug/pprof"`
}

// Eval is the section of one-shot evaluation. What daemon files call
// daemon.correlation and the like has no key here and is given by flags.
type Eval struct {
	ruleset.Config      `yaml:",inline"`
	StrictRules         bool   `yaml:"strict_rules" flag:"strict-rules"`
	InputFormat         string `yaml:"input_format" flag:"input-format" oneof:"auto json syslog plain logfmt cef"`
	format.SyslogConfig `yaml:",inline"`
	FailOnDetection     bool                     `yaml:"fail_on_detection" flag:"fail-on-detection" help:"Exit 1 when anything was found"`
	Schema              unavailable.EvalSchema   `yaml:"schema"`
	LogsourceRouting    ruleset.LogsourceRouting `yaml:"logsource_routing"`

	Event                []string            `yaml:"-" flag:"event,e" help:"Events as JSON, or @FILE, which may be a Windows event log (.evtx); repeatable; stdin when absent"`
	Pretty               bool                `yaml:"-" flag:"pretty"`
	Filter               format.FilterConfig `yaml:"-"`
	Correlation          correlate.Config    `yaml:"-"`
	IncludeEvent         bool                `yaml:"-" flag:"include-event"`
	ResultTime           bool                `yaml:"-" flag:"result-time"`
	MatchDetail          string              `yaml:"-" flag:"match-detail" oneof:"off summary full"`
	Index                evaluate.Index      `yaml:"-"`
	Observer             evaluate.Observer   `yaml:"-"`
	ObserveFieldsReport  string              `yaml:"-" flag:"observe-fields-report" help:"File for the report of --observe-fields"`
	AlertPipeline        string              `yaml:"-" flag:"alert-pipeline" help:"File of an alert pipeline, whose clock is the time of events: results that it drops are neither written nor counted"`
	DumpCorrelationState bool                `yaml:"-" flag:"dump-correlation-state" help:"Print the final windows on stderr"`
}

// Default returns the values of absent keys.
func Default() *Config {
	engine := evaluate.DefaultConfig()
	return &Config{
		Version: Version,
		Global:  Global{Color: "auto"},
		Daemon: Daemon{
			Input:       Input{Config: parse.DefaultConfig(), HTTP: ndjson.DefaultConfig(), Unix: unix.DefaultConfig(), Syslog: syslog.DefaultConfig()},
			API:         API{Config: server.DefaultConfig(), Audit: audit.DefaultConfig()},
			Output:      sink.DefaultConfig(),
			Correlation: correlate.DefaultConfig(),
			State:       state.DefaultConfig(),
			Engine:      engine,
			NATS:        NATS{Input: natsconn.DefaultInput()},
			Kafka:       kafkaconn.DefaultConfig(),
			Tap:         unavailable.DefaultTap, Tail: unavailable.DefaultTail,
			Dispositions: unavailable.DefaultDispositions, Capture: unavailable.DefaultCapture,
			Actors: actors.DefaultConfig(), LogsourceRouting: ruleset.DefaultLogsourceRouting(),
		},
		Eval: Eval{
			InputFormat: "auto", SyslogConfig: format.DefaultSyslog(), Correlation: correlate.DefaultConfig(),
			MatchDetail: engine.MatchDetail, Index: engine.Index, Observer: engine.Observer, LogsourceRouting: ruleset.DefaultLogsourceRouting(),
		},
		Backtest:  unavailable.DefaultBacktest,
		Scorecard: unavailable.DefaultScorecard,
		Hygiene:   unavailable.DefaultHygiene,
	}
}

// DaemonRules gives the settings that make the rule set of the daemon.
func (l *Loaded) DaemonRules() ruleset.Settings {
	c := &l.Config.Daemon
	return ruleset.Settings{
		Options:     c.Options(),
		MatchDetail: c.Engine.MatchDetail, IncludeEvent: c.Output.IncludeEvent, ResultTime: c.Output.ResultTime, EventTime: c.Output.NeedsTime(),
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
