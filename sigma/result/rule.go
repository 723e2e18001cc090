package result

import (
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// Rule is the handle of a loaded rule: what a result says about it. It never
// changes and may be kept for as long as wanted.
type Rule struct {
	Index      int // load index
	Title      string
	ID         string
	Level      ast.Level
	Tags       []string
	Attributes map[string]any

	head       []byte // `{"rule_title":...,"tags":[...]`
	attributes []byte // `,"custom_attributes":{...}`, or nothing
}

// NewRule renders the part of a result that is the same for every event.
func NewRule(index int, r *ast.Rule) *Rule {
	h := &Rule{
		Index: index, Title: r.Title, ID: r.ID, Level: r.Level, Tags: r.Tags, Attributes: r.Attributes,
	}
	h.head = AppendHead(nil, &r.Meta)
	h.attributes = AppendAttributes(nil, r.Attributes)
	return h
}

// AppendAttributes appends the member custom_attributes with a comma in front, nothing
// when the rule has none.
func (r *Rule) AppendAttributes(dst []byte) []byte { return append(dst, r.attributes...) }

// Key names the rule towards users: its id, else its title.
func (r *Rule) Key() string {
	if r.ID != "" {
		return r.ID
	}
	return r.Title
}

// LevelLabel is the level as metrics spell it.
func (r *Rule) LevelLabel() string {
	if r.Level == ast.LevelNone {
		return "unknown"
	}
	return r.Level.String()
}

// AppendHead appends the opening brace and the keys that every result begins
// with: rule_title, rule_id, level and tags.
func AppendHead(dst []byte, m *ast.Meta) []byte {
	dst = event.AppendQuoted(append(dst, `{"rule_title":`...), m.Title)
	dst = appendOptional(append(dst, `,"rule_id":`...), m.ID)
	dst = appendOptional(append(dst, `,"level":`...), m.Level.String())
	dst = append(dst, `,"tags":[`...)
	for i, t := range m.Tags {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = event.AppendQuoted(dst, t)
	}
	return append(dst, ']')
}

// AppendAttributes appends the member custom_attributes with a comma in front,
// keys sorted at every level; nothing when there are none.
func AppendAttributes(dst []byte, attributes map[string]any) []byte {
	if len(attributes) == 0 {
		return dst
	}
	return AppendJSON(append(dst, `,"custom_attributes":`...), attributes)
}

func appendOptional(dst []byte, s string) []byte {
	if s == "" {
		return append(dst, "null"...)
	}
	return event.AppendQuoted(dst, s)
}
