package program

import (
	"strconv"
	"time"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

// Rule is the handle of a correlation: what a result says about it. It never
// changes and may be kept for as long as wanted.
type Rule struct {
	Index      int
	Title      string
	ID         string
	Level      ast.Level
	Tags       []string
	Attributes map[string]any
	Type       ast.CorrelationType
	Timespan   int64 // seconds
	Source     *ast.Correlation

	head       []byte
	attributes []byte
	kind       []byte // `,"correlation_type":...,"group_key":[`
	timespan   []byte // `,"timespan_secs":...`
	withTime   bool
}

// NewRule renders the part of a result that is the same for every firing.
func NewRule(index int, s *ast.Correlation, withTime bool) *Rule {
	return &Rule{
		Index: index, Title: s.Title, ID: s.ID, Level: s.Level, Tags: s.Tags, Attributes: s.Attributes,
		Type: s.Type, Timespan: s.Timespan.Seconds(), Source: s,
		head:       result.AppendHead(nil, &s.Meta),
		attributes: result.AppendAttributes(nil, s.Attributes),
		kind:       []byte(`,"correlation_type":"` + string(s.Type) + `","group_key":[`),
		timespan:   strconv.AppendInt([]byte(`,"timespan_secs":`), s.Timespan.Seconds(), 10),
		withTime:   withTime,
	}
}

// LevelLabel is the level as metrics spell it.
func (r *Rule) LevelLabel() string {
	if r.Level == ast.LevelNone {
		return "unknown"
	}
	return r.Level.String()
}

// AppendHead appends what the results of the correlation have in common, up to
// the opening bracket of the group key. unix is shown only when results carry
// their time; enrichments is a JSON object, or empty for none.
func (r *Rule) AppendHead(dst []byte, unix int64, enrichments []byte) []byte {
	dst = append(dst, r.head...)
	if r.withTime {
		dst = append(dst, `,"timestamp":"`...)
		dst = time.Unix(unix, 0).UTC().AppendFormat(dst, "2006-01-02T15:04:05Z")
		dst = append(dst, '"')
	}
	dst = append(dst, r.attributes...)
	if len(enrichments) > 0 {
		dst = append(append(dst, `,"enrichments":`...), enrichments...)
	}
	return append(dst, r.kind...)
}

// AppendAttributes appends the member custom_attributes with a comma in front, nothing
// when the rule has none.
func (r *Rule) AppendAttributes(dst []byte) []byte { return append(dst, r.attributes...) }

// AppendKind appends correlation_type, with a comma in front, up to the opening bracket
// of the group key.
func (r *Rule) AppendKind(dst []byte) []byte { return append(dst, r.kind...) }

// AppendTimespan appends what stands behind the aggregated value.
func (r *Rule) AppendTimespan(dst []byte) []byte { return append(dst, r.timespan...) }
