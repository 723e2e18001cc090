package config

// Version is the newest layout of configuration files this release reads.
const Version = 1

// Config is the whole tree. Struct tags:
//
//	yaml    the key below its parent; "-" for settings only flags may give
//	flag    the flag, with its one-letter form behind a comma
//	env     a variable bound to the flag
//	oneof   the allowed words, separated by blanks
//	min,max the bounds of a number
//	mode    replace: a layer that names the section replaces all of it;
//	        value: a boolean flag that takes its value; on: the flag can only
//	        turn on; whole: the map is one leaf; loose: in files and variables
//	        case and surrounding blanks do not matter, and true and false are
//	        words
type Config struct {
	Version   int       `yaml:"version" min:"1"`
	Global    Global    `yaml:"global"`
	Daemon    Daemon    `yaml:"daemon"`
	Eval      Eval      `yaml:"eval"`
	Backtest  Backtest  `yaml:"backtest"`
	Coverage  Coverage  `yaml:"coverage"`
	Scorecard Scorecard `yaml:"scorecard"`
	Hygiene   Hygiene   `yaml:"hygiene"`
	Doc       Doc       `yaml:"doc"`
}

// Global is what every command obeys.
type Global struct {
	// LogFormat is empty where nobody chose one: the daemon then logs JSON, and
	// other commands do not log.
	LogFormat    string `yaml:"log_format" flag:"log-format" oneof:"text json"`
	OutputFormat string `yaml:"output_format" flag:"output-format" oneof:"json ndjson table csv tsv"`
	Color        string `yaml:"color" flag:"color" oneof:"auto always never"`
	LogLevel     string `yaml:"-" flag:"log-level" oneof:"off error warn info debug trace"`
	Quiet        bool   `yaml:"-" flag:"quiet,q"`
	NoStats      bool   `yaml:"-" flag:"no-stats"`
}

// Default returns the values of absent keys.
func Default() *Config {
	return &Config{
		Version:   Version,
		Global:    Global{Color: "auto"},
		Daemon:    defaultDaemon(),
		Eval:      defaultEval(),
		Backtest:  Backtest{Unexpected: "warn", InputFormat: "auto", SyslogTZ: "+00:00", SyslogStripBOM: true},
		Scorecard: defaultScorecard(),
		Hygiene:   defaultHygiene(),
	}
}
