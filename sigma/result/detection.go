package result

import (
	"time"

	"github.com/sluicehq/sluice/sigma/event"
)

// Match says how a field matched. It belongs to the rule and never changes.
type Match struct {
	Selection     string
	Matcher       string
	Pattern       string
	HasPattern    bool
	ShowCase      bool
	CaseSensitive bool
	Negated       bool
}

// Field is one entry of matched_fields. Match is nil at detail off.
type Field struct {
	Name  string
	Value []byte // compact JSON
	Match *Match
}

// Detection is one rule met by one event, or by several that it says the same of.
// It and its parts are shared and must not be changed once they are filled.
type Detection struct {
	Rule       *Rule
	Selections *Selections // of Rule, nil for none
	Fields     []Field
	Extra      *Extra // nil for nothing
}

// Extra is what few results carry.
type Extra struct {
	Event   []byte // compact JSON, nil when the event is not included
	HasTime bool   // Time is known
	Told    bool   // the native line tells it
	Time    int64  // of the event, Unix seconds
}

// Size is about how many bytes the native line has.
func (d *Detection) Size() int {
	n := len(d.Rule.head) + len(d.Rule.attributes) + len(noSelections)
	if d.Selections != nil {
		n = len(d.Selections.opening)
	}
	for i := range d.Fields {
		n += len(`{"field":"","value":},`) + len(d.Fields[i].Name) + len(d.Fields[i].Value)
		if m := d.Fields[i].Match; m != nil {
			n += matchSize + len(m.Selection) + len(m.Pattern)
		}
	}
	if d.Extra != nil {
		n += len(d.Extra.Event)
	}
	return n
}

// matchSize is about what a Match adds to an entry beside its texts.
const matchSize = len(`"selection":"","matcher":"startswith","pattern":"","case_sensitive":false,`)

// AppendNative appends the native line without its line feed. Enrichments is a
// JSON object, or empty for none.
func (d *Detection) AppendNative(dst, enrichments []byte) []byte {
	dst = d.appendFields(d.appendOpening(dst, enrichments))
	if d.Extra != nil && d.Extra.Event != nil {
		dst = append(append(dst, `,"event":`...), d.Extra.Event...)
	}
	return append(dst, '}')
}

// AppendMatched appends the members matched_selections and matched_fields, each with a
// comma in front.
func (d *Detection) AppendMatched(dst []byte) []byte {
	if d.Selections == nil {
		return d.appendFields(append(dst, noSelections...))
	}
	return d.appendFields(append(dst, d.Selections.member...))
}

// appendFields appends the entries of matched_fields and the closing bracket.
func (d *Detection) appendFields(dst []byte) []byte {
	for i := range d.Fields {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = d.Fields[i].append(dst)
	}
	return append(dst, ']')
}

// appendOpening appends what comes before the entries of matched_fields.
func (d *Detection) appendOpening(dst, enrichments []byte) []byte {
	timed := d.Extra != nil && d.Extra.HasTime && d.Extra.Told
	if d.Selections != nil && !timed && len(enrichments) == 0 {
		return append(dst, d.Selections.opening...)
	}
	dst = append(dst, d.Rule.head...)
	if timed {
		dst = append(dst, `,"timestamp":"`...)
		dst = time.Unix(d.Extra.Time, 0).UTC().AppendFormat(dst, "2006-01-02T15:04:05Z")
		dst = append(dst, '"')
	}
	dst = append(dst, d.Rule.attributes...)
	if len(enrichments) > 0 {
		dst = append(append(dst, `,"enrichments":`...), enrichments...)
	}
	if d.Selections == nil {
		return append(dst, noSelections...)
	}
	return append(dst, d.Selections.member...)
}

func (f *Field) append(dst []byte) []byte {
	dst = event.AppendQuoted(append(dst, `{"field":`...), f.Name)
	dst = append(append(dst, `,"value":`...), f.Value...)
	m := f.Match
	if m == nil {
		return append(dst, '}')
	}
	dst = event.AppendQuoted(append(dst, `,"selection":`...), m.Selection)
	dst = event.AppendQuoted(append(dst, `,"matcher":`...), m.Matcher)
	if m.HasPattern {
		dst = event.AppendQuoted(append(dst, `,"pattern":`...), m.Pattern)
	}
	if m.ShowCase {
		if m.CaseSensitive {
			dst = append(dst, `,"case_sensitive":true`...)
		} else {
			dst = append(dst, `,"case_sensitive":false`...)
		}
	}
	if m.Negated {
		dst = append(dst, `,"negated":true`...)
	}
	return append(dst, '}')
}
