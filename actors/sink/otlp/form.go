package otlp

import (
	"sync"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

// Form writes each result as a log record. Records of other kinds stay away.
type Form struct{}

// Accepts implements graph.Form.
func (Form) Accepts(p graph.Payload) bool { return p.Result != nil }

// Native implements graph.Form.
func (Form) Native() bool { return false }

// Append appends the log record of a result.
func (f Form) Append(dst []byte, p graph.Payload, m *graph.Message) (_ []byte, err error) {
	dst = otlp.AppendTime(dst, m.Time)
	r := p.Result
	if r.Detection != nil && r.Detection.Selections != nil {
		dst, err = f.appendDetection(dst, r.Detection, r.Enrichments)
	} else {
		dst, err = f.appendResult(dst, r)
	}
	if err != nil {
		return dst, err
	}
	return otlp.AppendObservedTime(dst, m.Time), nil
}

// AppendLine appends the log record of a line that is no result: its body and nothing else.
func AppendLine(dst, line []byte) []byte { return otlp.AppendBody(dst, string(line)) }

// lines keeps memory for native lines that are read again.
var lines = sync.Pool{New: func() any { return new([]byte) }}

// longLine is the length from which the memory of a line is not kept.
const longLine = 64 << 10

// appendResult reads the attributes from the native line.
func (Form) appendResult(dst []byte, r *graph.Result) ([]byte, error) {
	if d := r.Detection; d != nil {
		dst = appendRule(dst, d.Rule.Level, d.Rule.Title)
	} else {
		dst = appendRule(dst, r.Correlation.Rule.Level, r.Correlation.Rule.Title)
	}
	line := lines.Get().(*[]byte)
	*line = r.AppendNative((*line)[:0])
	dst, err := otlp.AppendAttributes(dst, *line)
	if cap(*line) <= longLine {
		lines.Put(line)
	}
	return dst, err
}

// severity is how OpenTelemetry numbers and names a level.
func severity(l ast.Level) (number byte, name string) {
	switch l {
	case ast.LevelCritical:
		return 21, "FATAL"
	case ast.LevelHigh:
		return 17, "ERROR"
	case ast.LevelMedium:
		return 13, "WARN"
	case ast.LevelLow:
		return 9, "INFO"
	case ast.LevelInformational:
		return 5, "DEBUG"
	}
	return 0, ""
}

func appendRule(dst []byte, l ast.Level, title string) []byte {
	number, name := severity(l)
	return otlp.AppendBody(otlp.AppendSeverity(dst, number, name), title)
}

// common is what the records of all detections of the same selections have in common, in
// pieces between which others may stand.
type common struct {
	rule       []byte // severity, body and the first attributes
	attributes []byte // custom_attributes, or nothing
	selections []byte // matched_selections
}

func commonOf(d *result.Detection) any {
	c := &common{rule: appendRule(nil, d.Rule.Level, d.Rule.Title)}
	err := otlp.Members(d.AppendNative(nil, nil), func(key string, value []byte) (err error) {
		switch key {
		case "custom_attributes":
			c.attributes, err = otlp.AppendAttribute(nil, key, value)
		case "matched_selections":
			c.selections, err = otlp.AppendAttribute(nil, key, value)
		case "matched_fields": // of each detection its own
		default:
			c.rule, err = otlp.AppendAttribute(c.rule, key, value)
		}
		return err
	})
	if err != nil {
		return err
	}
	return c
}

// appendDetection writes a detection without its native line.
func (f Form) appendDetection(dst []byte, d *result.Detection, enrichments []byte) (_ []byte, err error) {
	var c *common
	switch shared := d.Selections.Shared(f, commonOf).(type) {
	case *common:
		c = shared
	case error:
		return dst, shared
	}
	dst = append(dst, c.rule...)
	if d.Extra != nil && d.Extra.Told {
		var text [len("2006-01-02T15:04:05Z")]byte
		dst = otlp.AppendText(dst, "timestamp", string(time.Unix(d.Extra.Time, 0).UTC().AppendFormat(text[:0], "2006-01-02T15:04:05Z")))
	}
	dst = append(dst, c.attributes...)
	if len(enrichments) > 0 {
		if dst, err = otlp.AppendAttribute(dst, "enrichments", enrichments); err != nil {
			return dst, err
		}
	}
	dst = append(dst, c.selections...)
	fields := otlp.BeginArray(dst, "matched_fields")
	for i := range d.Fields {
		if err := appendField(&fields, &d.Fields[i]); err != nil {
			return dst, err
		}
	}
	dst = fields.End()
	if d.Extra != nil && d.Extra.Event != nil {
		return otlp.AppendAttribute(dst, "event", d.Extra.Event)
	}
	return dst, nil
}

// appendField writes an entry of matched_fields, as its native member does.
func appendField(fields *otlp.Array, field *result.Field) error {
	entry := fields.BeginObject()
	entry.Text("field", field.Name)
	if err := entry.JSON("value", field.Value); err != nil {
		return err
	}
	if m := field.Match; m != nil {
		entry.Text("selection", m.Selection)
		entry.Text("matcher", m.Matcher)
		if m.HasPattern {
			entry.Text("pattern", m.Pattern)
		}
		if m.ShowCase {
			entry.Bool("case_sensitive", m.CaseSensitive)
		}
		if m.Negated {
			entry.Bool("negated", true)
		}
	}
	entry.End()
	return nil
}
