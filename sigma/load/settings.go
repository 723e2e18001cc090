package load

import (
	"slices"
	"strconv"

	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/timespan"
)

var (
	actions    = []string{"alert", "reset"}
	eventModes = []string{"none", "refs", "full"}
)

// settle reads what attributes say about a correlation, once pipelines have had
// their say, and decides its window.
func (d *draft) settle() {
	c := d.Correlation
	m := &c.Rule.Meta
	d.windowKind(c)
	s := &c.Rule.Settings
	if text, ok := attributeText(m, attrSuppress); ok {
		if span, err := timespan.ParseSpan(text); err == nil {
			s.Suppress = &span
		} else {
			d.unusable(m, attrSuppress, text)
		}
	}
	s.Action = d.choice(m, attrAction, actions)
	s.EventMode = d.choice(m, attrEventMode, eventModes)
	s.MaxEvents = d.positive(m, attrMaxEvents)
	s.MaxGroupEntries = d.positive(m, attrMaxGroupEntries)
}

// windowKind decides window and gap: an attribute wins over the key. A gap that
// the document gave its own session window is no fault when an attribute makes
// the window another one.
func (d *draft) windowKind(c *correlation) {
	m := &c.Rule.Meta
	own, gap, gapKey := c.Window, c.Gap, "gap"
	text, key := own, "window"
	if t, ok := attributeText(m, attrWindow); ok {
		text, key = t, attrWindow
	}
	if t, ok := attributeText(m, attrGap); ok {
		gap, gapKey = t, attrGap
	}
	c.Rule.Window = ast.WindowSliding
	if text != "" {
		w, err := ast.ParseWindow(text)
		if err != nil {
			d.failKey(c.Block, key, "%v%s", err, suggest.Behind(text, windows))
			return
		}
		c.Rule.Window = w
	}
	session := c.Rule.Window == ast.WindowSession
	switch {
	case gap == "" && session:
		d.failKey(c.Block, key, "a session window needs a gap")
	case gap == "":
	case !session && key == attrWindow && own == string(ast.WindowSession):
	case !session:
		d.failKey(c.Block, gapKey, "%q is only for session windows, not %s ones", gap, c.Rule.Window)
	default:
		span, err := positiveSpan(gap)
		if err != nil {
			d.failKey(c.Block, gapKey, "%v", err)
		}
		c.Rule.Gap = span
	}
}

func (d *draft) choice(m *ast.Meta, key string, allowed []string) string {
	text, ok := attributeText(m, key)
	if ok && !slices.Contains(allowed, text) {
		d.unusable(m, key, text)
		return ""
	}
	return text
}

func (d *draft) positive(m *ast.Meta, key string) int {
	text, ok := attributeText(m, key)
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		d.unusable(m, key, text)
		return 0
	}
	return n
}
