package config

// Daemon is the service's section (specification part 23 sections 2.2 to 2.6).
type Daemon struct {
	Rules            Paths            `yaml:"rules" flag:"rules,r"`
	MinLevel         string           `yaml:"min_level" flag:"min-level" oneof:"informational low medium high critical"`
	ExcludeRules     []string         `yaml:"exclude_rules" flag:"exclude-rule"`
	Pipelines        []string         `yaml:"pipelines" flag:"pipeline,p"`
	Sources          []string         `yaml:"sources" flag:"source"`
	Enrichers        string           `yaml:"enrichers" flag:"enrichers"`
	AlertPipeline    string           `yaml:"alert_pipeline" flag:"alert-pipeline"`
	Risk             string           `yaml:"risk" flag:"risk"`
	Input            Input            `yaml:"input"`
	API              API              `yaml:"api"`
	Output           Output           `yaml:"output"`
	Correlation      Correlation      `yaml:"correlation"`
	State            State            `yaml:"state"`
	Engine           Engine           `yaml:"engine"`
	Schema           Schema           `yaml:"schema"`
	LogsourceRouting LogsourceRouting `yaml:"logsource_routing"`
	NATS             NATS             `yaml:"nats"`
	Tap              Tap              `yaml:"tap"`
	Tail             Tail             `yaml:"tail"`
	Dispositions     Dispositions     `yaml:"dispositions"`
	Capture          Capture          `yaml:"capture"`
	// Mailboxes overrides the capacity of single actors, by actor name.
	Mailboxes map[string]int `yaml:"mailboxes" flag:"mailbox-size" min:"1" max:"1000000"`
	Actors    Actors         `yaml:"actors"`
}

// Input says where events come from and how a line becomes an event.
type Input struct {
	Source         string    `yaml:"source" flag:"input"`
	Format         string    `yaml:"format" flag:"input-format" oneof:"auto json syslog plain logfmt cef"`
	SyslogTZ       string    `yaml:"syslog_tz" flag:"syslog-tz"`
	SyslogStripBOM bool      `yaml:"syslog_strip_bom" flag:"syslog-strip-bom" mode:"value"`
	BufferSize     int       `yaml:"buffer_size" flag:"buffer-size" min:"1" max:"1000000"`
	BufferBytes    Bytes     `yaml:"buffer_bytes" flag:"buffer-bytes" min:"1048576"`
	BatchSize      int       `yaml:"batch_size" flag:"batch-size" min:"1"`
	HTTP           InputHTTP `yaml:"http"`
	Unix           InputUnix `yaml:"unix"`
	JQ             string    `yaml:"jq" flag:"jq"`
	JSONPath       string    `yaml:"jsonpath" flag:"jsonpath"`
}

// InputHTTP bounds what arrives over HTTP.
type InputHTTP struct {
	MaxBodyBytes Bytes `yaml:"max_body_bytes" min:"1048576"`
}

// InputUnix bounds what arrives over a unix socket.
type InputUnix struct {
	MaxConnections int `yaml:"max_connections" min:"1"`
}

// API is the listener, who may use it, and the record of who did.
type API struct {
	Addr        string `yaml:"addr" flag:"api-addr"`
	TokenEnv    string `yaml:"-" flag:"api-token-env"`
	TLS         TLS    `yaml:"tls"`
	Auth        *Auth  `yaml:"auth" mode:"replace"` // nil: no authentication configured here
	Audit       Audit  `yaml:"audit" mode:"replace"`
	EnablePprof bool   `yaml:"-" flag:"enable-pprof"`
}

// TLS names the files of the API's certificate.
type TLS struct {
	Cert           string `yaml:"cert" flag:"tls-cert"`
	Key            string `yaml:"key" flag:"tls-key"`
	KeyPassword    string `yaml:"-" flag:"tls-key-password" env:"SLUICE_TLS_KEY_PASSWORD"`
	ClientCA       string `yaml:"client_ca" flag:"tls-client-ca"`
	MinVersion     string `yaml:"min_version" flag:"tls-min-version"`
	AllowPlaintext bool   `yaml:"allow_plaintext" flag:"allow-plaintext"`
}

// Auth grants permissions to tokens and to callers without one.
type Auth struct {
	AnonymousPermissions []string            `yaml:"anonymous_permissions"`
	Roles                map[string][]string `yaml:"roles"`
	Tokens               []Token             `yaml:"tokens"`
}

// Token names the variable that holds a secret; the secret itself is never
// part of a configuration.
type Token struct {
	Name        string   `yaml:"name" json:"name"`
	TokenEnv    string   `yaml:"token_env" json:"token_env"`
	Role        string   `yaml:"role" json:"role,omitempty"`
	Permissions []string `yaml:"permissions" json:"permissions,omitempty"`
}

// Audit is the record of control-plane changes.
type Audit struct {
	Enabled      *bool    `yaml:"enabled"` // nil: on when there is a state database
	MaxEntries   int      `yaml:"max_entries" min:"0"`
	MaxAge       Duration `yaml:"max_age"`
	MaxBodyBytes Bytes    `yaml:"max_body_bytes" min:"0"`
	Sink         string   `yaml:"sink"`
}

// Output says where results go.
type Output struct {
	Sinks         []string `yaml:"sinks" flag:"output"`
	Webhooks      []string `yaml:"webhooks" flag:"webhook"`
	DLQ           string   `yaml:"dlq" flag:"dlq"`
	IncludeEvent  bool     `yaml:"include_event" flag:"include-event"`
	Pretty        bool     `yaml:"pretty" flag:"pretty"`
	ResultTime    bool     `yaml:"result_time" flag:"result-time"`
	DrainTimeout  int      `yaml:"drain_timeout" flag:"drain-timeout" min:"0" max:"1000000000"` // seconds
	RetryMax      int      `yaml:"retry_max" flag:"sink-retry-max" min:"0"`
	BackoffBaseMS int      `yaml:"backoff_base_ms" flag:"sink-backoff-base-ms" min:"0" max:"1000000000000"`
	BackoffMaxMS  int      `yaml:"backoff_max_ms" flag:"sink-backoff-max-ms" min:"0" max:"1000000000000"`
	BatchMax      int      `yaml:"batch_max" flag:"sink-batch-max" min:"1"`
	BatchFlushMS  int      `yaml:"batch_flush_ms" flag:"sink-batch-flush-ms" min:"0" max:"1000000000000"`
}

// Correlation holds the defaults of correlation rules and their bounds.
type Correlation struct {
	Suppress          string   `yaml:"suppress" flag:"suppress"`
	Action            string   `yaml:"action" flag:"action" oneof:"alert reset"`
	NoDetections      bool     `yaml:"no_detections" flag:"no-detections"`
	EventMode         string   `yaml:"event_mode" flag:"correlation-event-mode" mode:"loose"`
	MaxEvents         int      `yaml:"max_events" flag:"max-correlation-events" min:"1"`
	MaxStateEntries   int      `yaml:"max_state_entries" flag:"max-state-entries" min:"1"`
	MaxGroupEntries   *int     `yaml:"max_group_entries" flag:"max-group-entries" min:"1"` // nil: unbounded
	TimestampFields   []string `yaml:"timestamp_fields" flag:"timestamp-field"`
	TimestampFallback string   `yaml:"timestamp_fallback" flag:"timestamp-fallback" oneof:"wallclock skip"`
}

// State is what survives a restart.
type State struct {
	DB           string `yaml:"db" flag:"state-db"`
	SaveInterval int    `yaml:"save_interval" flag:"state-save-interval" min:"1" max:"1000000000"` // seconds
	Clear        bool   `yaml:"-" flag:"clear-state"`
	Keep         bool   `yaml:"-" flag:"keep-state"`
}

// Engine holds settings of evaluation and loading.
type Engine struct {
	StrictRules          bool   `yaml:"strict_rules" flag:"strict-rules"`
	BloomPrefilter       bool   `yaml:"bloom_prefilter" flag:"bloom-prefilter"`
	BloomMaxBytes        Bytes  `yaml:"bloom_max_bytes" flag:"bloom-max-bytes" min:"0"`
	CrossRuleAC          bool   `yaml:"cross_rule_ac" flag:"cross-rule-ac"`
	MatchDetail          string `yaml:"match_detail" flag:"match-detail" oneof:"off summary full" mode:"loose"`
	ObserveFields        bool   `yaml:"observe_fields" flag:"observe-fields"`
	ObserveFieldsMaxKeys int    `yaml:"observe_fields_max_keys" flag:"observe-fields-max-keys" min:"1"`
	AllowRemoteInclude   bool   `yaml:"allow_remote_include" flag:"allow-remote-include"`
	EgressPolicy         string `yaml:"egress_policy" flag:"egress-policy" oneof:"default strict permissive"`
}

// Schema recognises kinds of events.
type Schema struct {
	Observe        bool   `yaml:"observe" flag:"observe-schemas"`
	Discover       bool   `yaml:"discover" flag:"discover-schemas"`
	Routing        bool   `yaml:"routing" flag:"schema-routing"`
	PartitionRules bool   `yaml:"partition_rules" flag:"schema-partition-rules"`
	Config         string `yaml:"config" flag:"schema-config"`
	OnUnknown      string `yaml:"on_unknown" flag:"on-unknown"`
}

// LogsourceRouting skips rules whose log source contradicts the event's.
type LogsourceRouting struct {
	Enabled        bool       `yaml:"enabled" flag:"logsource-routing" mode:"on"`
	FieldMap       Dimensions `yaml:"field_map" flag:"logsource-field-map"`
	EventLogsource Dimensions `yaml:"event_logsource" flag:"event-logsource"`
	Strict         bool       `yaml:"strict"` // accepted, without effect
}

// Dimensions holds one text per dimension of a log source.
type Dimensions struct {
	Product  string            `yaml:"product" json:"product,omitempty"`
	Service  string            `yaml:"service" json:"service,omitempty"`
	Category string            `yaml:"category" json:"category,omitempty"`
	Custom   map[string]string `yaml:"custom" json:"custom,omitempty" mode:"whole"`
}

// NATS is the message bus: how to reach it and how to read from it.
type NATS struct {
	ConsumerGroup      string `yaml:"consumer_group" flag:"consumer-group" env:"SLUICE_CONSUMER_GROUP"`
	AckMode            string `yaml:"ack_mode" flag:"nats-ack-mode" oneof:"delivered snapshot"`
	Creds              string `yaml:"-" flag:"nats-creds" env:"NATS_CREDS"`
	Token              string `yaml:"-" flag:"nats-token" env:"NATS_TOKEN"`
	User               string `yaml:"-" flag:"nats-user" env:"NATS_USER"`
	Password           string `yaml:"-" flag:"nats-password" env:"NATS_PASSWORD"`
	NKey               string `yaml:"-" flag:"nats-nkey" env:"NATS_NKEY"`
	TLSCert            string `yaml:"-" flag:"nats-tls-cert"`
	TLSKey             string `yaml:"-" flag:"nats-tls-key"`
	TLSCA              string `yaml:"-" flag:"nats-tls-ca"`
	RequireTLS         bool   `yaml:"-" flag:"nats-require-tls"`
	ReplayFromSequence string `yaml:"-" flag:"replay-from-sequence"`
	ReplayFromTime     string `yaml:"-" flag:"replay-from-time"`
	ReplayFromLatest   bool   `yaml:"-" flag:"replay-from-latest"`
}

// Tap lets operators watch events.
type Tap struct {
	Enabled      bool     `yaml:"enabled" flag:"enable-tap" mode:"on"`
	BufferEvents int      `yaml:"buffer_events" min:"0"`
	MaxSessions  int      `yaml:"max_sessions" min:"0"`
	MaxDuration  Duration `yaml:"max_duration"`
}

// Tail lets operators watch results.
type Tail struct {
	Enabled      bool `yaml:"enabled" flag:"enable-tail" mode:"on"`
	BufferEvents int  `yaml:"buffer_events" min:"0"`
	MaxSessions  int  `yaml:"max_sessions" min:"0"`
}

// Dispositions is the feedback of analysts.
type Dispositions struct {
	Enabled   bool     `yaml:"enabled" flag:"enable-dispositions" mode:"on"`
	Source    string   `yaml:"source" flag:"disposition-source"`
	Window    Duration `yaml:"window"`
	Numerator string   `yaml:"numerator" oneof:"fp_only fp_and_btp"`
	MinSample int      `yaml:"min_sample" min:"0"`
}

// Capture keeps the events behind judged incidents.
type Capture struct {
	Enabled              bool     `yaml:"enabled" flag:"enable-capture" mode:"on"`
	SpoolDir             string   `yaml:"spool_dir"`
	MaxCapturedIncidents int      `yaml:"max_captured_incidents" min:"1"`
	MaxEventsPerIncident int      `yaml:"max_events_per_incident" min:"1"`
	SpoolQueueCapacity   int      `yaml:"spool_queue_capacity" min:"1"`
	MaxEventBytes        Bytes    `yaml:"max_event_bytes" min:"1"`
	MaxBytesPerIncident  Bytes    `yaml:"max_bytes_per_incident" min:"1"`
	MaxCaptureBytes      Bytes    `yaml:"max_capture_bytes" min:"1"`
	MaxSpoolBytes        Bytes    `yaml:"max_spool_bytes" min:"1"`
	TTL                  Duration `yaml:"ttl"`
}

// Actors bounds how often an actor may be restarted.
type Actors struct {
	MaxRestarts   int `yaml:"max_restarts" min:"0"`
	RestartWindow int `yaml:"restart_window" min:"1" max:"1000000000"` // seconds
}

func defaultDaemon() Daemon {
	return Daemon{
		Input: Input{
			Source: "stdin", Format: "auto", SyslogTZ: "+00:00", SyslogStripBOM: true,
			BufferSize: 10_000, BufferBytes: 64 * mib, BatchSize: 128,
			HTTP: InputHTTP{MaxBodyBytes: 20 * mib}, Unix: InputUnix{MaxConnections: 1024},
		},
		API: API{
			Addr:  "0.0.0.0:9090",
			TLS:   TLS{MinVersion: "1.3"},
			Audit: Audit{MaxEntries: 10_000, MaxAge: 30 * day, MaxBodyBytes: 64 * kib},
		},
		Output: Output{
			Sinks: []string{"stdout"}, DrainTimeout: 5, RetryMax: 3, BackoffBaseMS: 100, BackoffMaxMS: 5000,
			BatchMax: 64, BatchFlushMS: 50,
		},
		Correlation: defaultCorrelation(),
		State:       State{SaveInterval: 30},
		Engine: Engine{
			BloomMaxBytes: mib, MatchDetail: "off", ObserveFieldsMaxKeys: 10_000, EgressPolicy: "default",
		},
		NATS:         NATS{AckMode: "delivered"},
		Tap:          Tap{BufferEvents: 8192, MaxSessions: 2, MaxDuration: 5 * minute},
		Tail:         Tail{BufferEvents: 8192, MaxSessions: 2},
		Dispositions: Dispositions{Window: 30 * day, Numerator: "fp_only", MinSample: 5},
		Capture: Capture{
			MaxCapturedIncidents: 1000, MaxEventsPerIncident: 1000, SpoolQueueCapacity: 128,
			MaxEventBytes: mib, MaxBytesPerIncident: 16 * mib, MaxCaptureBytes: 256 * mib, MaxSpoolBytes: 10 * gib,
			TTL: day,
		},
		Actors: Actors{MaxRestarts: 10, RestartWindow: 60},
	}
}

func defaultCorrelation() Correlation {
	return Correlation{
		Action: "alert", EventMode: "none", MaxEvents: 10, MaxStateEntries: 100_000, TimestampFallback: "wallclock",
	}
}
