package evaluate

import (
	"github.com/sluicehq/sluice/internal/egress"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Config holds the settings of loading and evaluating rules.
type Config struct {
	StrictRules        bool `yaml:"strict_rules" flag:"strict-rules" help:"Refuse to run when any rule document is rejected"`
	Index              `yaml:",inline"`
	MatchDetail        string `yaml:"match_detail" flag:"match-detail" oneof:"off summary full" mode:"lenient" help:"How much a result says about why it matched"`
	Observer           `yaml:",inline"`
	AllowRemoteInclude bool `yaml:"allow_remote_include" flag:"allow-remote-include" help:"Pipelines may include transformations from sources of type http and nats"`
	Egress             `yaml:",inline"`
}

// Egress says which addresses outbound requests may reach.
type Egress = egress.Config

// Index holds settings of indexes that other engines build. They are accepted, so that
// a configuration fits both, and have no effect: the engine has one index, always.
type Index struct {
	BloomPrefilter bool           `yaml:"bloom_prefilter" flag:"bloom-prefilter" help:"Accepted without effect: the engine has an index of its own"`
	BloomMaxBytes  timespan.Bytes `yaml:"bloom_max_bytes" flag:"bloom-max-bytes" min:"0" help:"Accepted without effect"`
	CrossRuleAC    bool           `yaml:"cross_rule_ac" flag:"cross-rule-ac" help:"Accepted without effect: the engine has an index of its own"`
}

// NoEffect is why they have none.
const NoEffect = "no effect: the engine's own index selects the rules of an event"

// Given names the settings that are not as by default, by their flags.
func (i Index) Given() (flags []string) {
	was := DefaultConfig().Index
	if i.BloomPrefilter != was.BloomPrefilter {
		flags = append(flags, "--bloom-prefilter")
	}
	if i.BloomMaxBytes != was.BloomMaxBytes {
		flags = append(flags, "--bloom-max-bytes")
	}
	if i.CrossRuleAC != was.CrossRuleAC {
		flags = append(flags, "--cross-rule-ac")
	}
	return flags
}

// Observer counts the fields of events.
type Observer struct {
	ObserveFields        bool `yaml:"observe_fields" flag:"observe-fields" help:"Count the fields of events"`
	ObserveFieldsMaxKeys int  `yaml:"observe_fields_max_keys" flag:"observe-fields-max-keys" min:"1" help:"Fields counted at most"`
}

// DefaultConfig returns the settings that apply when nothing is configured.
func DefaultConfig() Config {
	return Config{Index: Index{BloomMaxBytes: timespan.MiB}, MatchDetail: "off", Observer: Observer{ObserveFieldsMaxKeys: 10_000}, Egress: egress.DefaultConfig()}
}
