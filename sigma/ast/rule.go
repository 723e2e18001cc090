package ast

import "github.com/sluicehq/sluice/sigma/condition"

// Rule is a detection rule.
type Rule struct {
	Meta
	Version    int           `json:"version"` // major of sigma-version, 2 when absent, at most 3
	Logsource  Logsource     `json:"logsource"`
	Detections []Detection   `json:"detections"` // in written order
	Conditions []Condition   `json:"conditions"` // tried in order, the first that holds wins
	Filters    []FilterScope `json:"filters,omitempty"`
	Timeframe  string        `json:"timeframe,omitempty"` // kept, no effect
}

// Meta is what every kind of document carries beside its logic.
type Meta struct {
	Title          string         `json:"title"`
	ID             string         `json:"id,omitempty"`
	Name           string         `json:"name,omitempty"`
	Taxonomy       string         `json:"taxonomy,omitempty"`
	Description    string         `json:"description,omitempty"`
	License        string         `json:"license,omitempty"`
	Author         string         `json:"author,omitempty"`
	Date           string         `json:"date,omitempty"`
	Modified       string         `json:"modified,omitempty"`
	Status         string         `json:"status,omitempty"`
	Level          Level          `json:"level,omitempty"`
	Tags           []string       `json:"tags,omitempty"`
	References     []string       `json:"references,omitempty"`
	Fields         []string       `json:"fields,omitempty"`
	FalsePositives []string       `json:"falsepositives,omitempty"`
	Scope          []string       `json:"scope,omitempty"`
	Related        []Related      `json:"related,omitempty"`
	Attributes     map[string]any `json:"custom_attributes,omitempty"` // JSON values only
	Origin         Origin         `json:"origin"`
	Applied        []string       `json:"applied,omitempty"` // ids of pipeline items that acted on the document
}

// Key names the rule towards other documents and users: its id, else its title.
func (m *Meta) Key() string {
	if m.ID != "" {
		return m.ID
	}
	return m.Title
}

// Related is one entry of the related list.
type Related struct {
	ID   string `json:"id"`
	Type string `json:"type"`
}

// Origin says where a document was read. File is relative to its root,
// Document counts from 1, Line is that of the document's first key.
type Origin struct {
	File     string `json:"file"`
	Document int    `json:"document"`
	Line     int    `json:"line,omitempty"`
}

// Logsource is the log source a rule is written for.
type Logsource struct {
	Category   string            `json:"category,omitempty"`
	Product    string            `json:"product,omitempty"`
	Service    string            `json:"service,omitempty"`
	Definition string            `json:"definition,omitempty"` // no effect
	Custom     map[string]string `json:"custom,omitempty"`
}

// Detection is a named entry of a detection block.
type Detection struct {
	Name string `json:"name"`
	Node *Node  `json:"node"`
	Line int    `json:"line,omitempty"`
}

// Condition is one condition of a rule: the text as written and what it means.
// Text wrapped by a pipeline (add_condition) is rewritten together with Expr.
type Condition struct {
	Text string          `json:"text"`
	Expr *condition.Expr `json:"expr"`
	Line int             `json:"line,omitempty"`
}

// FilterScope is a filter rule merged into a detection rule: the rule fires
// only where one of Conditions holds over Detections alone. Names in it never
// meet the rule's own names, and its detections never appear in results.
type FilterScope struct {
	Title      string      `json:"title"`
	ID         string      `json:"id,omitempty"`
	Version    int         `json:"version"`
	Detections []Detection `json:"detections"`
	Conditions []Condition `json:"conditions"`
	Origin     Origin      `json:"origin"`
}
