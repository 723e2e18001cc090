package unavailable

import (
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Backtest replays a corpus and compares what fires with what should.
type Backtest struct {
	Rules               []string `yaml:"rules" flag:"rules,r" mode:"one"`
	Corpus              string   `yaml:"corpus" flag:"corpus" help:"Events to replay"`
	Expectations        string   `yaml:"expectations" flag:"expectations" help:"What should fire"`
	Unexpected          string   `yaml:"unexpected" flag:"unexpected" oneof:"fail warn ignore" help:"A fire nobody expected"`
	Pipelines           []string `yaml:"pipelines" flag:"pipeline,p"`
	InputFormat         string   `yaml:"input_format" flag:"input-format" oneof:"auto json syslog plain logfmt cef"`
	format.SyslogConfig `yaml:",inline"`
}

// Coverage compares rules with ATT&CK.
type Coverage struct {
	Rules      []string `yaml:"rules" flag:"rules,r" mode:"one"`
	Atomics    string   `yaml:"atomics" flag:"atomics" help:"Directory of atomic tests"`
	Baseline   string   `yaml:"baseline" flag:"baseline" help:"Earlier layer to compare with"`
	Targets    string   `yaml:"targets" flag:"targets" help:"Techniques to cover"`
	FailOnGaps bool     `yaml:"fail_on_gaps" flag:"fail-on-gaps" help:"Exit 1 on a gap"`
}

// Scorecard judges which rules to keep, tune or retire.
type Scorecard struct {
	Backtest           string            `yaml:"backtest" flag:"backtest" help:"Report of a backtest"`
	Coverage           string            `yaml:"coverage" flag:"coverage" help:"Report of coverage"`
	Metrics            string            `yaml:"metrics" flag:"metrics" help:"Metrics of a daemon, a file or a URL"`
	MetricsWindow      timespan.Duration `yaml:"metrics_window" flag:"metrics-window" help:"Span the metrics cover"`
	Triage             string            `yaml:"triage" flag:"triage" help:"Verdicts, a file or a URL"`
	Report             string            `yaml:"report" flag:"report" help:"File for the report"`
	FailOn             string            `yaml:"fail_on" flag:"fail-on" help:"Verdicts that exit 1"`
	MinPrecision       float64           `yaml:"min_precision" flag:"min-precision" help:"Precision to keep a rule"`
	TuneMaxPrecision   float64           `yaml:"tune_max_precision" flag:"tune-max-precision" help:"Precision below which a rule needs tuning"`
	RetireMaxPrecision float64           `yaml:"retire_max_precision" flag:"retire-max-precision" help:"Precision below which a rule should go"`
	MinVolume          int               `yaml:"min_volume" flag:"min-volume" min:"0" help:"Fires before a rule is judged"`
	StaleWindow        timespan.Duration `yaml:"stale_window" flag:"stale-window" help:"Silence after which a rule is stale"`
	MaxFPRatio         float64           `yaml:"max_fp_ratio" flag:"max-fp-ratio" help:"Largest ratio of false positives"`
}

// Hygiene finds candidates for retirement.
type Hygiene struct {
	Rules           []string          `yaml:"rules" flag:"rules,r" mode:"one"`
	Metrics         string            `yaml:"metrics" flag:"metrics"`
	MetricsWindow   timespan.Duration `yaml:"metrics_window" flag:"metrics-window"`
	Fields          string            `yaml:"fields" flag:"fields" help:"Report of observed fields"`
	SilentThreshold timespan.Duration `yaml:"silent_threshold" flag:"silent-threshold" help:"Age of a rule that never fired"`
	StaleThreshold  timespan.Duration `yaml:"stale_threshold" flag:"stale-threshold" help:"Silence of a rule that fired once"`
	NoisyThreshold  timespan.Duration `yaml:"noisy_threshold" flag:"noisy-threshold" help:"Span in which a noisy rule is judged"`
	FailOn          string            `yaml:"fail_on" flag:"fail-on"`
}

// Doc reports on the documentation of rules.
type Doc struct {
	FailOnMissing bool `yaml:"fail_on_missing" flag:"fail-on-missing" help:"Exit 1 when a section is missing"`
}

const year = 365 * timespan.Day

// The defaults of the sections above.
var (
	DefaultBacktest  = Backtest{Unexpected: "warn", InputFormat: "auto", SyslogConfig: format.DefaultSyslog()}
	DefaultScorecard = Scorecard{
		FailOn: "none", MinPrecision: 0.8, TuneMaxPrecision: 0.5, RetireMaxPrecision: 0.1, MinVolume: 1,
		StaleWindow: 30 * timespan.Day, MaxFPRatio: 0.5,
	}
	DefaultHygiene = Hygiene{SilentThreshold: year, StaleThreshold: year, NoisyThreshold: year}
)
