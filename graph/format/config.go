package format

import "github.com/sluicehq/sluice/graph/filter"

// SyslogConfig holds the settings of syslog lines.
type SyslogConfig struct {
	SyslogTZ       string `yaml:"syslog_tz" flag:"syslog-tz" help:"Offset of syslog stamps that have none"`
	SyslogStripBOM bool   `yaml:"syslog_strip_bom" flag:"syslog-strip-bom" mode:"value" help:"Drop a byte order mark before a syslog message"`
}

// DefaultSyslog returns the settings that apply when nothing is configured.
func DefaultSyslog() SyslogConfig { return SyslogConfig{SyslogTZ: "+00:00", SyslogStripBOM: true} }

// Validate reports an offset that ParseZone refuses.
func (s SyslogConfig) Validate(fault func(key string, err error)) {
	if _, err := ParseZone(s.SyslogTZ); err != nil {
		fault("syslog_tz", err)
	}
}

// FilterConfig holds the program that turns the value of a line into events.
type FilterConfig struct {
	JQ       string `yaml:"jq" flag:"jq" help:"jq program that turns a line's value into events"`
	JSONPath string `yaml:"jsonpath" flag:"jsonpath" help:"JSONPath query that selects events of a line's value"`
}

// Validate reports two programs at once, and one that is not in its language.
func (f FilterConfig) Validate(fault func(key string, err error)) {
	if _, err := f.Compile(); err != nil {
		key := "jq"
		if f.JQ == "" {
			key = "jsonpath"
		}
		fault(key, err)
	}
}

// Compile makes the filter; nil when there is no program.
func (f FilterConfig) Compile() (*filter.Filter, error) { return filter.Compile(f.JQ, f.JSONPath) }

// Filtered reports whether there is a program.
func (f FilterConfig) Filtered() bool { return f.JQ != "" || f.JSONPath != "" }
