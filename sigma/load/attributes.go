package load

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// The attributes that the service interprets.
const (
	attrIncludeEvent    = "sluice.include_event"
	attrTimestampField  = "sluice.timestamp_field"
	attrSuppress        = "sluice.suppress"
	attrAction          = "sluice.action"
	attrEventMode       = "sluice.correlation_event_mode"
	attrMaxEvents       = "sluice.max_correlation_events"
	attrMaxGroupEntries = "sluice.max_group_entries"
	attrWindow          = "sluice.window"
	attrGap             = "sluice.gap"
	attrRiskScore       = "sluice.risk_score"
	attrADS             = "sluice.ads."
)

var knownAttributes = []string{
	attrIncludeEvent, attrTimestampField, attrSuppress, attrAction, attrEventMode, attrMaxEvents,
	attrMaxGroupEntries, attrWindow, attrGap, attrRiskScore,
}

// attribute keeps a top-level key that nobody else reads.
func (d *draft) attribute(m *ast.Meta, key string, v *document.Node) {
	if m.Attributes == nil {
		m.Attributes = make(map[string]any)
	}
	m.Attributes[key] = recall(d, "attribute", v, 0, v.JSON)
	if strings.HasPrefix(key, "sluice.") && !slices.Contains(knownAttributes, key) && !strings.HasPrefix(key, attrADS) {
		d.warn(v.Line, "unknown attribute '%s'%s", key, suggest.Behind(key, knownAttributes))
	}
}

// customAttributes adds the entries of custom_attributes, which win over
// top-level keys.
func (d *draft) customAttributes(m *ast.Meta, v *document.Node) {
	if v == nil {
		return
	}
	if v.Kind != document.Map {
		d.warn(v.Line, "field 'custom_attributes' is not a mapping and is ignored")
		return
	}
	for _, e := range v.Entries {
		if e.Key.Kind == document.String {
			d.attribute(m, e.Key.Text, e.Value)
		}
	}
}

// attributeText returns an attribute as text: values may be quoted or not.
func attributeText(m *ast.Meta, key string) (text string, ok bool) {
	v, ok := m.Attributes[key]
	if !ok || v == nil {
		return "", false
	}
	switch v.(type) {
	case map[string]any, []any:
		return fmt.Sprintf("%v", v), true // never a usable value, but worth showing
	}
	return fmt.Sprint(v), true
}

// unusable warns of an attribute that has no effect.
func (d *draft) unusable(m *ast.Meta, key, text string) {
	d.warn(m.Origin.Line, "rule '%s': attribute '%s' has the unusable value %q and is ignored", m.Key(), key, text)
}

// defaults gathers what a detection rule sets for the whole engine.
func (l *collector) defaults(d *draft) {
	m, out := &d.Rule.Meta, &l.out.Defaults
	l.timestampField(d, m)
	if text, ok := attributeText(m, attrSuppress); ok {
		span, err := timespan.ParseSpan(text)
		switch {
		case err != nil:
			d.unusable(m, attrSuppress, text)
		case out.Suppress == nil:
			out.Suppress = &span
			d.warn(m.Origin.Line, "rule '%s': attribute '%s' sets the default of the whole engine", m.Key(), attrSuppress)
		}
	}
	if text, ok := attributeText(m, attrAction); ok {
		switch {
		case !slices.Contains(actions, text):
			d.unusable(m, attrAction, text)
		case out.Action == "":
			out.Action = text
			d.warn(m.Origin.Line, "rule '%s': attribute '%s' sets the default of the whole engine", m.Key(), attrAction)
		}
	}
}

// timestampField puts the field a rule names in front of those before it.
func (l *collector) timestampField(d *draft, m *ast.Meta) {
	text, ok := attributeText(m, attrTimestampField)
	if !ok {
		return
	}
	if _, isString := m.Attributes[attrTimestampField].(string); !isString || text == "" {
		d.unusable(m, attrTimestampField, text)
		return
	}
	if fields := &l.out.Defaults.TimestampFields; !slices.Contains(*fields, text) {
		*fields = slices.Insert(*fields, 0, text)
	}
}
