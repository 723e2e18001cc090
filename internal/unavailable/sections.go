package unavailable

import "github.com/sluicehq/sluice/sigma/timespan"

// EvalSchema is the part of schema recognition that one-shot evaluation has.
type EvalSchema struct {
	Routing        bool   `yaml:"routing" flag:"schema-routing" help:"Evaluate events by the rules of their schema"`
	PartitionRules bool   `yaml:"partition_rules" flag:"schema-partition-rules" help:"Compile a rule set per schema"`
	Config         string `yaml:"config" flag:"schema-config" help:"File of signatures and bindings"`
	OnUnknown      string `yaml:"on_unknown" flag:"on-unknown" oneof:"warn drop passthrough error" help:"An event of no known schema"`
}

// Schema recognises kinds of events.
type Schema struct {
	Observe    bool `yaml:"observe" flag:"observe-schemas" help:"Count the kinds of events"`
	Discover   bool `yaml:"discover" flag:"discover-schemas" help:"Propose signatures for unknown kinds"`
	EvalSchema `yaml:",inline"`
}

// Tap lets operators watch events.
type Tap struct {
	Enabled      bool              `yaml:"enabled" flag:"enable-tap" mode:"on" help:"Let operators watch events"`
	BufferEvents int               `yaml:"buffer_events" min:"0" help:"Events a slow watcher may lag behind"`
	MaxSessions  int               `yaml:"max_sessions" min:"0" help:"Sessions at once"`
	MaxDuration  timespan.Duration `yaml:"max_duration" help:"Longest session"`
}

// Tail lets operators watch results.
type Tail struct {
	Enabled      bool `yaml:"enabled" flag:"enable-tail" mode:"on" help:"Let operators watch results"`
	BufferEvents int  `yaml:"buffer_events" min:"0" help:"Results a slow watcher may lag behind"`
	MaxSessions  int  `yaml:"max_sessions" min:"0" help:"Sessions at once"`
}

// Dispositions is the feedback of analysts.
type Dispositions struct {
	Enabled   bool              `yaml:"enabled" flag:"enable-dispositions" mode:"on" help:"Take in the verdicts of analysts"`
	Source    string            `yaml:"source" flag:"disposition-source" help:"File of a source of verdicts"`
	Window    timespan.Duration `yaml:"window" help:"Verdicts older than this are forgotten"`
	Numerator string            `yaml:"numerator" oneof:"fp_only fp_and_btp" help:"Which verdicts count as false"`
	MinSample int               `yaml:"min_sample" min:"0" help:"Verdicts before a ratio is given"`
}

// Capture keeps the events behind judged incidents.
type Capture struct {
	Enabled              bool              `yaml:"enabled" flag:"enable-capture" mode:"on" help:"Keep the events behind judged incidents"`
	SpoolDir             string            `yaml:"spool_dir" help:"Directory of captured events"`
	MaxCapturedIncidents int               `yaml:"max_captured_incidents" min:"1" help:"Incidents held"`
	MaxEventsPerIncident int               `yaml:"max_events_per_incident" min:"1" help:"Events of an incident"`
	SpoolQueueCapacity   int               `yaml:"spool_queue_capacity" min:"1" help:"Incidents waiting to be written"`
	MaxEventBytes        timespan.Bytes    `yaml:"max_event_bytes" min:"1" help:"Largest event"`
	MaxBytesPerIncident  timespan.Bytes    `yaml:"max_bytes_per_incident" min:"1" help:"Bytes of an incident"`
	MaxCaptureBytes      timespan.Bytes    `yaml:"max_capture_bytes" min:"1" help:"Bytes held"`
	MaxSpoolBytes        timespan.Bytes    `yaml:"max_spool_bytes" min:"1" help:"Bytes on disk"`
	TTL                  timespan.Duration `yaml:"ttl" help:"How long events are held"`
}

// The defaults of the sections above.
var (
	DefaultTap          = Tap{BufferEvents: 8192, MaxSessions: 2, MaxDuration: timespan.Seconds(5 * 60)}
	DefaultTail         = Tail{BufferEvents: 8192, MaxSessions: 2}
	DefaultDispositions = Dispositions{Window: 30 * timespan.Day, Numerator: "fp_only", MinSample: 5}
	DefaultCapture      = Capture{
		MaxCapturedIncidents: 1000, MaxEventsPerIncident: 1000, SpoolQueueCapacity: 128,
		MaxEventBytes: timespan.MiB, MaxBytesPerIncident: 16 * timespan.MiB, MaxCaptureBytes: 256 * timespan.MiB,
		MaxSpoolBytes: 10 * timespan.GiB, TTL: timespan.Day,
	}
)
