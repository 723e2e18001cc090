package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"time"
)

// Type is where values come from.
type Type string

// The types.
const (
	File    Type = "file"
	HTTP    Type = "http"
	Command Type = "command"
	NATS    Type = "nats"
)

// Label is the type as lists of sources show it.
func (t Type) Label() string {
	switch t {
	case File:
		return "File"
	case HTTP:
		return "Http"
	case Command:
		return "Command"
	case NATS:
		return "Nats"
	}
	return string(t)
}

// Remote reports whether values of the type come over the network.
func (t Type) Remote() bool { return t == HTTP || t == NATS }

// Format is what bytes are to be read as.
type Format string

// The formats.
const (
	JSON  Format = "json"
	YAML  Format = "yaml"
	Lines Format = "lines"
	CSV   Format = "csv"
)

// Policy says which value counts when a fetch has failed.
type Policy string

// The policies.
const (
	UseCached  Policy = "use_cached" // the last one that was got
	Fail       Policy = "fail"       // none
	UseDefault Policy = "use_default"
)

// RefreshPolicy says what makes a value be fetched again.
type RefreshPolicy string

// The refresh policies.
const (
	Once     RefreshPolicy = "Once"
	Interval RefreshPolicy = "Interval"
	Watch    RefreshPolicy = "Watch"
	Push     RefreshPolicy = "Push"
	OnDemand RefreshPolicy = "OnDemand"
)

// MinInterval is the shortest time between two fetches of an interval.
const MinInterval = time.Second

// Refresh is a refresh policy.
type Refresh struct {
	Policy RefreshPolicy
	Every  time.Duration // of Interval, as declared
}

// Interval is how often an Interval fetches.
func (r Refresh) Interval() time.Duration { return max(r.Every, MinInterval) }

// String is the policy as lists of sources show it, an interval as it was declared.
func (r Refresh) String() string {
	if r.Policy != Interval {
		return string(r.Policy)
	}
	if r.Every < time.Second {
		return "Interval(" + strconv.FormatInt(r.Every.Milliseconds(), 10) + "ms)"
	}
	return "Interval(" + strconv.FormatFloat(r.Every.Seconds(), 'f', -1, 64) + "s)"
}

// Header is a header of a request. References to the environment stand in its value.
type Header struct{ Name, Value string }

// Declaration is a source. It never changes once it is loaded.
type Declaration struct {
	ID       string
	Type     Type
	Format   Format
	Extract  *Extract // nil for the value as it is
	Refresh  Refresh
	Required bool
	OnError  Policy
	Default  []byte        // compact JSON; nil if there is none
	Timeout  time.Duration // of a fetch; of a file that of its extract expression

	MaxBody   int64 // bytes of a file and of the body of a response
	MaxStdout int64 // bytes of the standard output of a command

	Path    string   // of a file
	URL     string   // of http and nats
	Method  string   // of http, never empty
	Headers []Header // of http
	Body    string   // of http
	HasBody bool     // also if it is empty
	Argv    []string // of a command
	Subject string   // of nats

	File string // that declares it
	Line int    // of the declaration in it
}

// Place is where the source is declared, as lists of sources show it.
func (d *Declaration) Place() string { return "external:" + d.File }

// Fingerprint tells declarations apart whose values cannot stand for each other: those of
// another type, place, format or extract expression. The place of http is URL and method;
// body and headers do not count, so a feed may change its token and keep its last value.
func (d *Declaration) Fingerprint() string {
	var locator []string
	switch d.Type {
	case File:
		locator = []string{d.Path}
	case HTTP:
		locator = []string{d.URL, d.Method}
	case Command:
		locator = d.Argv
	case NATS:
		locator = []string{d.URL, d.Subject}
	}
	parts := [][]string{{string(d.Type)}, locator, {string(d.Format)}}
	if d.Extract != nil {
		parts = append(parts, []string{string(d.Extract.Language), d.Extract.Expr})
	}
	text, err := json.Marshal(parts)
	if err != nil {
		panic("fetch: texts that are no JSON: " + err.Error()) // cannot happen
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
