package bundle

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sluicehq/sluice/graph/catalog"
)

// SchemaVersion is the version of the document.
const SchemaVersion = 1

// Bundle is the document.
type Bundle struct {
	SchemaVersion int             `json:"schema_version" doc:"1"`
	GeneratedAt   string          `json:"generated_at" doc:"In UTC, in whole seconds"`
	Sources       Sources         `json:"sources"`
	Incident      json.RawMessage `json:"incident"`
	Rules         []Rule          `json:"rules" doc:"One for each key of rule_counts, sorted by it"`
	Risk          []Overlap       `json:"risk,omitzero" doc:"Absent when no risk is accumulated"`

	about incident
}

// Sources tells which parts the document could be made of.
type Sources struct {
	Rules bool `json:"rules"`
	Risk  bool `json:"risk" doc:"Whether risk is accumulated"`
}

// incident is what of an incident the document is made of.
type incident struct {
	ID          string            `json:"incident_id"`
	State       string            `json:"state"`
	FirstSeen   int64             `json:"first_seen"`
	LastSeen    int64             `json:"last_seen"`
	MaxLevel    string            `json:"max_level"`
	ResultCount int64             `json:"result_count"`
	RuleCounts  map[string]int64  `json:"rule_counts"`
	GroupBy     json.RawMessage   `json:"group_by"` // an object of values, in the order of its selectors
	Entities    json.RawMessage   `json:"entities"` // an object of lists of strings
	Results     []json.RawMessage `json:"results"`
	SampleMode  string            `json:"sample_mode"`
}

// Rules are what incidents name. *catalog.Catalog is one.
type Rules interface {
	// Documents returns the rules of each key, of equal ones the first.
	Documents(keys ...string) map[string][]catalog.Document
}

// New makes the document of an incident, as the API shows it, at a time in Unix seconds.
// Entities are those with risk, in the order in which they are listed; nil says that no risk
// is accumulated.
func New(snapshot []byte, rules Rules, entities []Entity, now int64) (*Bundle, error) {
	b := &Bundle{
		SchemaVersion: SchemaVersion, GeneratedAt: instant(now),
		Sources: Sources{Rules: true, Risk: entities != nil}, Incident: snapshot,
	}
	if err := json.Unmarshal(snapshot, &b.about); err != nil {
		return nil, fmt.Errorf("read the incident: %w", err)
	}
	keys := slices.Sorted(maps.Keys(b.about.RuleCounts))
	found := rules.Documents(keys...)
	b.Rules = make([]Rule, 0, len(keys))
	for _, key := range keys {
		b.Rules = append(b.Rules, resolved(key, b.about.RuleCounts[key], found[key]))
	}
	if entities != nil {
		b.Risk = b.about.overlaps(entities)
	}
	return b, nil
}

// JSON is the document as indented JSON, with a line feed behind it.
func (b *Bundle) JSON() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(b)
	return out.Bytes(), err
}

// instant is a time in UTC in whole seconds.
func instant(sec int64) string { return time.Unix(sec, 0).UTC().Format("2006-01-02T15:04:05Z") }
