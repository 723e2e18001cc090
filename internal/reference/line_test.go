package reference

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/sluicehq/sluice/sigma/ast"
)

// line is one result as JSON, without line feed.
func (e *Evaluator) line(r *rule, ev *Event, arrival int64) []byte {
	s := scope{ev: ev}
	support := r.block.winner(s).support(s, nil)
	dst := append([]byte(`{"rule_title":`), appendString(nil, r.rule.Title)...)
	dst = append(dst, `,"rule_id":`...)
	dst = appendOptional(dst, r.rule.ID)
	dst = append(dst, `,"level":`...)
	dst = appendOptional(dst, r.rule.Level.String())
	dst = append(dst, `,"tags":`...)
	dst = appendStrings(dst, r.rule.Tags)
	if e.options.ResultTime {
		at, ok := ev.time(e.options.TimestampFields)
		if !ok {
			at = arrival
		}
		dst = append(dst, `,"timestamp":"`...)
		dst = time.Unix(at, 0).UTC().AppendFormat(dst, time.RFC3339)
		dst = append(dst, '"')
	}
	if len(r.rule.Attributes) > 0 {
		dst = append(append(dst, `,"custom_attributes":`...), encode(r.rule.Attributes)...)
	}
	names := make([]string, len(support))
	var entries []entry
	for i, d := range support {
		names[i] = d.name
		entries = d.node.explain(s, d.name, e.options.Detail, entries)
	}
	dst = append(dst, `,"matched_selections":`...)
	dst = appendStrings(dst, names)
	dst = append(dst, `,"matched_fields":[`...)
	for i := range entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = entries[i].appendTo(dst, e.options.Detail)
	}
	dst = append(dst, ']')
	if e.options.IncludeEvent || includesEvent(r.rule) {
		dst = append(dst, `,"event":`...)
		dst = ev.root.appendTo(dst)
	}
	return append(dst, '}')
}

func includesEvent(r *ast.Rule) bool {
	switch v := r.Attributes["sluice.include_event"].(type) {
	case bool:
		return v
	case string:
		return v == "true"
	}
	return false
}

func (e *entry) appendTo(dst []byte, d Detail) []byte {
	dst = append(append(dst, `{"field":`...), appendString(nil, e.field)...)
	dst = append(dst, `,"value":`...)
	dst = e.value.appendTo(dst)
	if d == Off {
		return append(dst, '}')
	}
	dst = append(append(dst, `,"selection":`...), appendString(nil, e.selection)...)
	dst = append(append(dst, `,"matcher":`...), appendString(nil, e.matcher)...)
	if d == Full && e.pattern != nil {
		dst = append(append(dst, `,"pattern":`...), appendString(nil, *e.pattern)...)
	}
	if e.showCase {
		dst = append(dst, `,"case_sensitive":`...)
		dst = append(dst, encode(e.cased)...)
	}
	if e.negated {
		dst = append(dst, `,"negated":true`...)
	}
	return append(dst, '}')
}

func appendStrings(dst []byte, ss []string) []byte {
	dst = append(dst, '[')
	for i, s := range ss {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, s)
	}
	return append(dst, ']')
}

func appendOptional(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return appendString(dst, s)
}

func appendString(dst []byte, s string) []byte { return append(dst, encode(s)...) }

// encode is compact JSON in which &, < and > stay what they are.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return []byte("null") // cannot happen: rules hold JSON values only
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
