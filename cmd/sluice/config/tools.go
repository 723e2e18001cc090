package config

// Eval is the section of one-shot evaluation. What daemon files call
// daemon.correlation and the like has no key here and is given by flags.
type Eval struct {
	Rules            Paths            `yaml:"rules" flag:"rules,r"`
	MinLevel         string           `yaml:"min_level" flag:"min-level" oneof:"informational low medium high critical"`
	ExcludeRules     []string         `yaml:"exclude_rules" flag:"exclude-rule"`
	Pipelines        []string         `yaml:"pipelines" flag:"pipeline,p"`
	StrictRules      bool             `yaml:"strict_rules" flag:"strict-rules"`
	InputFormat      string           `yaml:"input_format" flag:"input-format" oneof:"auto json syslog plain logfmt cef"`
	SyslogTZ         string           `yaml:"syslog_tz" flag:"syslog-tz"`
	SyslogStripBOM   bool             `yaml:"syslog_strip_bom" flag:"syslog-strip-bom" mode:"value"`
	FailOnDetection  bool             `yaml:"fail_on_detection" flag:"fail-on-detection"`
	Schema           EvalSchema       `yaml:"schema"`
	LogsourceRouting LogsourceRouting `yaml:"logsource_routing"`

	Event                string      `yaml:"-" flag:"event,e"`
	Pretty               bool        `yaml:"-" flag:"pretty"`
	JQ                   string      `yaml:"-" flag:"jq"`
	JSONPath             string      `yaml:"-" flag:"jsonpath"`
	Correlation          Correlation `yaml:"-"`
	IncludeEvent         bool        `yaml:"-" flag:"include-event"`
	ResultTime           bool        `yaml:"-" flag:"result-time"`
	MatchDetail          string      `yaml:"-" flag:"match-detail" oneof:"off summary full"`
	BloomPrefilter       bool        `yaml:"-" flag:"bloom-prefilter"`
	BloomMaxBytes        Bytes       `yaml:"-" flag:"bloom-max-bytes" min:"0"`
	CrossRuleAC          bool        `yaml:"-" flag:"cross-rule-ac"`
	ObserveFields        bool        `yaml:"-" flag:"observe-fields"`
	ObserveFieldsMaxKeys int         `yaml:"-" flag:"observe-fields-max-keys" min:"1"`
	ObserveFieldsReport  string      `yaml:"-" flag:"observe-fields-report"`
	DumpCorrelationState bool        `yaml:"-" flag:"dump-correlation-state"`
}

// EvalSchema is the part of schema recognition that one-shot evaluation has.
type EvalSchema struct {
	Routing        bool   `yaml:"routing" flag:"schema-routing"`
	PartitionRules bool   `yaml:"partition_rules" flag:"schema-partition-rules"`
	Config         string `yaml:"config" flag:"schema-config"`
	OnUnknown      string `yaml:"on_unknown" flag:"on-unknown"`
}

// Backtest replays a corpus and compares what fires with what should.
type Backtest struct {
	Rules          Paths    `yaml:"rules" flag:"rules,r"`
	Corpus         string   `yaml:"corpus" flag:"corpus"`
	Expectations   string   `yaml:"expectations" flag:"expectations"`
	Unexpected     string   `yaml:"unexpected" flag:"unexpected" oneof:"fail warn ignore"`
	Pipelines      []string `yaml:"pipelines" flag:"pipeline,p"`
	InputFormat    string   `yaml:"input_format" flag:"input-format" oneof:"auto json syslog plain logfmt cef"`
	SyslogTZ       string   `yaml:"syslog_tz" flag:"syslog-tz"`
	SyslogStripBOM bool     `yaml:"syslog_strip_bom" flag:"syslog-strip-bom" mode:"value"`
}

// Coverage compares rules with ATT&CK.
type Coverage struct {
	Rules      Paths  `yaml:"rules" flag:"rules,r"`
	Atomics    string `yaml:"atomics" flag:"atomics"`
	Baseline   string `yaml:"baseline" flag:"baseline"`
	Targets    string `yaml:"targets" flag:"targets"`
	FailOnGaps bool   `yaml:"fail_on_gaps" flag:"fail-on-gaps"`
}

// Scorecard judges which rules to keep, tune or retire.
type Scorecard struct {
	Backtest           string   `yaml:"backtest" flag:"backtest"`
	Coverage           string   `yaml:"coverage" flag:"coverage"`
	Metrics            string   `yaml:"metrics" flag:"metrics"`
	MetricsWindow      Duration `yaml:"metrics_window" flag:"metrics-window"`
	Triage             string   `yaml:"triage" flag:"triage"`
	Report             string   `yaml:"report" flag:"report"`
	FailOn             string   `yaml:"fail_on" flag:"fail-on"`
	MinPrecision       float64  `yaml:"min_precision" flag:"min-precision"`
	TuneMaxPrecision   float64  `yaml:"tune_max_precision" flag:"tune-max-precision"`
	RetireMaxPrecision float64  `yaml:"retire_max_precision" flag:"retire-max-precision"`
	MinVolume          int      `yaml:"min_volume" flag:"min-volume" min:"0"`
	StaleWindow        Duration `yaml:"stale_window" flag:"stale-window"`
	MaxFPRatio         float64  `yaml:"max_fp_ratio" flag:"max-fp-ratio"`
}

// Hygiene finds candidates for retirement.
type Hygiene struct {
	Rules           Paths    `yaml:"rules" flag:"rules,r"`
	Metrics         string   `yaml:"metrics" flag:"metrics"`
	MetricsWindow   Duration `yaml:"metrics_window" flag:"metrics-window"`
	Fields          string   `yaml:"fields" flag:"fields"`
	SilentThreshold Duration `yaml:"silent_threshold" flag:"silent-threshold"`
	StaleThreshold  Duration `yaml:"stale_threshold" flag:"stale-threshold"`
	NoisyThreshold  Duration `yaml:"noisy_threshold" flag:"noisy-threshold"`
	FailOn          string   `yaml:"fail_on" flag:"fail-on"`
}

// Doc reports on the documentation of rules.
type Doc struct {
	FailOnMissing bool `yaml:"fail_on_missing" flag:"fail-on-missing"`
}

func defaultEval() Eval {
	return Eval{
		InputFormat: "auto", SyslogTZ: "+00:00", SyslogStripBOM: true, Correlation: defaultCorrelation(),
		MatchDetail: "off", BloomMaxBytes: mib, ObserveFieldsMaxKeys: 10_000,
	}
}

func defaultScorecard() Scorecard {
	return Scorecard{
		FailOn: "none", MinPrecision: 0.8, TuneMaxPrecision: 0.5, RetireMaxPrecision: 0.1, MinVolume: 1,
		StaleWindow: 30 * day, MaxFPRatio: 0.5,
	}
}

func defaultHygiene() Hygiene {
	const year = 365 * day
	return Hygiene{SilentThreshold: year, StaleThreshold: year, NoisyThreshold: year}
}
