package ocsf

import (
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/result"
)

// appendResult appends a finding about a result of a rule up to its evidence.
func (f Form) appendResult(dst []byte, title, id string, level ast.Level, tags []string, seconds int64, m *graph.Message) []byte {
	h := head{level: level, seconds: seconds}
	dst, quoted := appendMessage(h.append(dst), title)
	dst = appendResultID(append(dst, f.product...), m, '1')
	dst = append(append(dst, `"},"finding_info":{"title":`...), quoted...)
	dst = appendResultID(append(dst, `,"uid":"`...), m, '0')
	dst = append(append(dst, `","analytic":`+ruleAnalytic...), quoted...)
	if id != "" {
		dst = event.AppendQuoted(append(dst, `,"uid":`...), id)
	}
	return append(appendAttacks(append(dst, '}'), tags, attackOf), '}')
}

// evidences is what the evidence begins with, up to its members.
const evidences = `,"evidences":[{"data":`

func (f Form) appendDetection(dst []byte, r *graph.Result, m *graph.Message) []byte {
	d := r.Detection
	seconds, evidence := m.Time.Unix(), []byte(nil)
	if d.Extra != nil {
		evidence = d.Extra.Event
		if d.Extra.HasTime {
			seconds = d.Extra.Time
		}
	}
	dst = f.appendResult(dst, d.Rule.Title, d.Rule.ID, d.Rule.Level, d.Rule.Tags, seconds, m)
	if evidence != nil || len(d.Fields) > 0 {
		dst = append(dst, evidences...)
		at := len(dst)
		if evidence != nil {
			dst = append(append(dst, `,"event":`...), evidence...)
		}
		if len(d.Fields) > 0 {
			dst = append(appendFields(append(dst, `,"matched_fields":{`...), d.Fields), '}')
		}
		dst = append(braced(dst, at), "}]"...)
	}
	dst, left := appendRisk(dst, r.Enrichments)
	dst, at := openUnmapped(dst)
	dst = d.Rule.AppendAttributes(appendTags(dst, d.Rule.Tags))
	return closeUnmapped(d.AppendMatched(appendEnrichments(dst, left)), at)
}

func (f Form) appendCorrelation(dst []byte, r *graph.Result, m *graph.Message) []byte {
	c := r.Correlation
	dst = f.appendResult(dst, c.Rule.Title, c.Rule.ID, c.Rule.Level, c.Rule.Tags, c.Time, m)
	if c.Events != nil || c.Refs != nil {
		dst = append(dst, evidences...)
		at := len(dst)
		if c.Events != nil {
			dst = c.AppendEvents(dst)
		}
		if c.Refs != nil {
			dst = c.AppendRefs(dst)
		}
		dst = append(braced(dst, at), "}]"...)
	}
	dst, left := appendRisk(dst, r.Enrichments)
	dst, at := openUnmapped(dst)
	dst = c.Rule.AppendAttributes(appendTags(dst, c.Rule.Tags))
	return closeUnmapped(c.AppendAggregate(appendEnrichments(dst, left)), at)
}

// openUnmapped opens the last member of a finding. Its own members follow, at least one,
// each with a comma in front.
func openUnmapped(dst []byte) (_ []byte, at int) {
	dst = append(dst, `,"unmapped":`...)
	return dst, len(dst)
}

// closeUnmapped ends a finding.
func closeUnmapped(dst []byte, at int) []byte { return append(braced(dst, at), '}') }

// braced makes an object of what stands in dst from at on: members, at least one, each
// with a comma in front. The first comma is where the brace has to be.
func braced(dst []byte, at int) []byte {
	dst[at] = '{'
	return append(dst, '}')
}

func appendTags(dst []byte, tags []string) []byte {
	if len(tags) == 0 {
		return dst
	}
	dst = append(dst, `,"tags":[`...)
	for i, t := range tags {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = event.AppendQuoted(dst, t)
	}
	return append(dst, ']')
}

func appendEnrichments(dst, object []byte) []byte {
	if len(object) == 0 {
		return dst
	}
	return append(append(dst, `,"enrichments":`...), object...)
}

// appendFields appends what matched as members, the last value of each field.
func appendFields(dst []byte, fields []result.Field) []byte {
	var last map[string]int // when there are many
	if len(fields) > few {
		last = make(map[string]int, len(fields))
		for i := range fields {
			last[fields[i].Name] = i
		}
	}
	first := true
	for i := range fields {
		if overwritten(fields, i, last) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(event.AppendQuoted(dst, fields[i].Name), ':')
		dst = append(dst, fields[i].Value...)
	}
	return dst
}

// overwritten reports whether a later field has the same name.
func overwritten(fields []result.Field, i int, last map[string]int) bool {
	if last != nil {
		return last[fields[i].Name] != i
	}
	for _, later := range fields[i+1:] {
		if later.Name == fields[i].Name {
			return true
		}
	}
	return false
}
