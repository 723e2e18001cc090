// Package native reads native lines, which sinks write, back into results. What is read
// says what the line says, and is written as the same line again.
package native

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/result"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// ErrNoResult is the error of a line that holds a record, such as an incident.
var ErrNoResult = errors.New("the line holds neither a detection nor a correlation")

// line has the members of detections and correlations.
type line struct {
	Title       *string         `json:"rule_title"`
	ID          *string         `json:"rule_id"`
	Level       *string         `json:"level"`
	Tags        []string        `json:"tags"`
	Timestamp   *time.Time      `json:"timestamp"`
	Attributes  map[string]any  `json:"custom_attributes"`
	Enrichments json.RawMessage `json:"enrichments"`

	Selections []string        `json:"matched_selections"`
	Fields     []field         `json:"matched_fields"`
	Event      json.RawMessage `json:"event"`

	Type     string            `json:"correlation_type"`
	Key      [][2]string       `json:"group_key"`
	Value    float64           `json:"aggregated_value"`
	Timespan int64             `json:"timespan_secs"`
	Events   []json.RawMessage `json:"events"`
	Refs     []struct {
		Time int64   `json:"timestamp"`
		ID   *string `json:"id"`
	} `json:"event_refs"`
}

// field is an entry of matched_fields.
type field struct {
	Name          string          `json:"field"`
	Value         json.RawMessage `json:"value"`
	Selection     string          `json:"selection"`
	Matcher       *string         `json:"matcher"`
	Pattern       *string         `json:"pattern"`
	CaseSensitive *bool           `json:"case_sensitive"`
	Negated       bool            `json:"negated"`
}

// Parse reads a native line. The result has no memory in common with it.
func Parse(data []byte) (*graph.Result, error) {
	var in line
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		return nil, fmt.Errorf("the line is no result: %w", err)
	}
	if in.Title == nil {
		return nil, ErrNoResult
	}
	m := ast.Meta{Title: *in.Title, Tags: in.Tags, Attributes: in.Attributes}
	if in.ID != nil {
		m.ID = *in.ID
	}
	if in.Level != nil {
		var err error
		if m.Level, err = ast.ParseLevel(*in.Level); err != nil {
			return nil, fmt.Errorf("the line is no result: %w", err)
		}
	}
	r := &graph.Result{}
	if len(in.Enrichments) > 0 {
		if in.Enrichments[0] != '{' {
			return nil, errors.New("the line is no result: enrichments are no object")
		}
		r.Enrichments = compact(in.Enrichments)
	}
	for i := range in.Fields {
		if len(in.Fields[i].Value) == 0 {
			return nil, fmt.Errorf("the line is no result: matched_fields[%d] has no value", i)
		}
	}
	if in.Type != "" && !ast.CorrelationType(in.Type).Valid() {
		return nil, fmt.Errorf("the line is no result: unknown correlation_type '%s'", in.Type)
	}
	if in.Type != "" {
		r.Correlation = in.correlation(m)
	} else {
		r.Detection = in.detection(m)
	}
	return r, nil
}

func (in *line) detection(m ast.Meta) *result.Detection {
	rule := result.NewRule(0, &ast.Rule{Meta: m})
	d := &result.Detection{Rule: rule}
	if len(in.Selections) > 0 {
		d.Selections = result.NewSelections(rule, in.Selections)
	}
	for i := range in.Fields {
		d.Fields = append(d.Fields, in.Fields[i].match())
	}
	if len(in.Event) > 0 || in.Timestamp != nil {
		d.Extra = &result.Extra{Event: compact(in.Event)}
		if in.Timestamp != nil {
			d.Extra.Time, d.Extra.HasTime, d.Extra.Told = in.Timestamp.Unix(), true, true
		}
	}
	return d
}

func (f *field) match() result.Field {
	out := result.Field{Name: f.Name, Value: compact(f.Value)}
	if f.Matcher != nil {
		out.Match = &result.Match{
			Selection: f.Selection, Matcher: *f.Matcher, HasPattern: f.Pattern != nil, ShowCase: f.CaseSensitive != nil, Negated: f.Negated,
		}
		if f.Pattern != nil {
			out.Match.Pattern = *f.Pattern
		}
		if f.CaseSensitive != nil {
			out.Match.CaseSensitive = *f.CaseSensitive
		}
	}
	return out
}

func (in *line) correlation(m ast.Meta) *correlation.Result {
	c := correlation.ResultOf(&ast.Correlation{Meta: m, Type: ast.CorrelationType(in.Type), Timespan: timespan.Span(in.Timespan)}, in.Timestamp != nil)
	for _, pair := range in.Key {
		c.Key = append(c.Key, correlation.Pair{Field: pair[0], Value: pair[1]})
	}
	c.Value = in.Value
	if in.Timestamp != nil {
		c.Time = in.Timestamp.Unix()
	}
	if in.Events != nil {
		c.Events = [][]byte{}
	}
	for _, e := range in.Events {
		c.Events = append(c.Events, compact(e))
	}
	if in.Refs != nil {
		c.Refs = []correlation.EventRef{}
	}
	for _, ref := range in.Refs {
		to := correlation.EventRef{Time: ref.Time, HasID: ref.ID != nil}
		if to.HasID {
			to.ID = *ref.ID
		}
		c.Refs = append(c.Refs, to)
	}
	return c
}

// compact is JSON without the blanks between its parts; nil for nothing.
func compact(raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := json.Compact(&b, raw); err != nil {
		return raw // it was read already
	}
	return b.Bytes()
}
