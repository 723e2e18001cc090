package load

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/condition"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// correlation is a correlation document as it was written. Attributes, which
// pipelines may change, have no say in it yet.
type correlation struct {
	Rule   *ast.Correlation
	Refs   []string // the list rules, each string once
	Line   int      // of the list
	Window string   // as written, empty when absent
	Gap    string   // likewise
	Block  int      // line of the block
	// Defaulted says that the condition is absent, which temporal types allow.
	Defaulted bool
	CondLine  int
}

// working returns a copy that checking the document may change.
func (c *correlation) working() *correlation {
	own, rule := *c, *c.Rule
	rule.Condition.Expr = rule.Condition.Expr.Clone()
	own.Rule = &rule
	return &own
}

// What is known, for those who misspell it.
var (
	correlationKeys  = []string{"type", "rules", "group-by", "timespan", "timeframe", "window", "gap", "condition", "aliases", "generate"}
	conditionKeys    = []string{"lt", "lte", "gt", "gte", "eq", "neq", "field", "percentile"}
	correlationTypes = []string{
		string(ast.EventCount), string(ast.ValueCount), string(ast.ValueSum), string(ast.ValueAvg),
		string(ast.ValuePercentile), string(ast.ValueMedian), string(ast.Temporal), string(ast.TemporalOrdered),
	}
	windows = []string{string(ast.WindowSliding), string(ast.WindowTumbling), string(ast.WindowSession)}
)

// parseCorrelation reads a correlation document.
func (d *draft) parseCorrelation() {
	c := &correlation{Rule: &ast.Correlation{}}
	d.Correlation = c
	generate := false
	d.meta(&c.Rule.Meta, func(key string, v *document.Node) bool {
		switch key {
		case "sigma-version":
		case "generate":
			generate = v.Kind == document.Bool
			c.Rule.Generate = generate && v.Text == "true"
		case "correlation":
			d.correlationBlock(c, v)
		default:
			return false
		}
		return true
	})
	if nested := d.root.Get("correlation").Get("generate"); nested != nil && !generate && nested.Kind == document.Bool {
		c.Rule.Generate = nested.Text == "true"
	}
}

// failKey reports a problem of a key, with the correlation's title.
func (d *draft) failKey(line int, key, format string, args ...any) {
	d.fail(line, "correlation '%s': %s: %s", d.Title, key, fmt.Sprintf(format, args...))
}

func (d *draft) correlationBlock(c *correlation, v *document.Node) {
	c.Block = v.Line
	if v.Kind != document.Map {
		d.failKey(v.Line, "correlation", "must be a mapping")
		return
	}
	var spans [2]*document.Node // timespan, timeframe
	var cond, aliases *document.Node
	for _, e := range v.Entries {
		switch e.Key.Text {
		case "type":
			d.correlationType(c, e.Value)
		case "rules":
			c.Line = e.Key.Line
			c.Refs = d.references(e.Value)
		case "group-by":
			c.Rule.GroupBy = d.stringList("group-by", e.Value)
		case "timespan":
			spans[0] = e.Value
		case "timeframe":
			spans[1] = e.Value
		case "window":
			c.Window = d.correlationText("window", e.Value)
		case "gap":
			c.Gap = d.correlationText("gap", e.Value)
		case "condition":
			cond = e.Value
		case "aliases":
			aliases = e.Value
		case "generate":
		default:
			d.unknownKey(e.Key, "", correlationKeys)
		}
	}
	if v.Get("type") == nil {
		d.failKey(v.Line, "type", "Missing required field 'type'")
	}
	d.correlationSpan(c, spans)
	d.correlationCondition(c, v.Line, cond)
	c.Rule.Aliases = d.aliases(aliases)
	if c.Rule.Condition.Expr != nil && v.Get("rules") == nil {
		c.Line = c.CondLine
		c.Refs = c.Rule.Condition.Expr.Idents()
	}
	if len(c.Refs) == 0 {
		d.failKey(v.Line, "rules", "Missing required field 'rules': at least one rule is needed")
	}
}

// unknownKey warns of a key that nobody reads.
func (d *draft) unknownKey(key *document.Node, of string, known []string) {
	d.warn(key.Line, "correlation '%s': unknown key '%s'%s is ignored%s", d.Title, key.Text, of, suggest.Behind(key.Text, known))
}

func (d *draft) correlationType(c *correlation, v *document.Node) {
	text, ok := v.Str()
	t := ast.CorrelationType(text)
	if !ok || !t.Valid() {
		d.failKey(v.Line, "type", "unknown type %q%s", v.Text, suggest.Behind(v.Text, correlationTypes))
		return
	}
	c.Rule.Type = t
}

// references returns the strings of the list rules, each once.
func (d *draft) references(v *document.Node) []string {
	var out []string
	met := make(map[string]bool)
	for _, ref := range d.stringList("rules", v) {
		if !met[ref] {
			met[ref] = true
			out = append(out, ref)
		}
	}
	return out
}

// correlationText reads a key that must be a string, of which the empty one is
// as wrong as any other.
func (d *draft) correlationText(key string, v *document.Node) string {
	text, ok := v.Str()
	if !ok || text == "" {
		d.failKey(v.Line, key, "must be a string, not %q", v.Text)
	}
	return text
}

// correlationSpan reads timespan and timeframe, of which the latter wins.
func (d *draft) correlationSpan(c *correlation, written [2]*document.Node) {
	key, v := "timespan", written[0]
	if written[1] != nil {
		key, v = "timeframe", written[1]
	}
	if v == nil {
		d.failKey(c.Block, key, "Missing required field 'timespan'")
		return
	}
	text := d.correlationText(key, v)
	if text == "" {
		return
	}
	span, err := positiveSpan(text)
	if err != nil {
		d.failKey(v.Line, key, "%v", err)
	}
	c.Rule.Timespan = span
}

func positiveSpan(text string) (timespan.Span, error) {
	span, err := timespan.ParseSpan(text)
	if err == nil && span == 0 {
		return 0, fmt.Errorf("%q is zero", text)
	}
	return span, err
}

func (d *draft) correlationCondition(c *correlation, block int, v *document.Node) {
	t := c.Rule.Type
	if v == nil || v.Kind == document.Null {
		c.CondLine = block
		if c.Defaulted = t.Temporal(); !c.Defaulted && t != "" {
			d.failKey(block, "condition", "Missing required field 'condition'")
		}
		return
	}
	c.CondLine = v.Line
	switch v.Kind {
	case document.Map:
		d.threshold(c, v)
	case document.String:
		if t != "" && !t.Temporal() {
			d.failCompile(v.Line, "correlation '%s': condition: %q is an extended condition, which only temporal and temporal_ordered have", d.Title, v.Text)
		}
		expr, err := condition.Parse(v.Text)
		if err != nil {
			d.failKey(v.Line, "condition", "%v", err)
			return
		}
		c.Rule.Condition.Text, c.Rule.Condition.Expr = v.Text, expr
	default:
		d.failKey(v.Line, "condition", "must be a mapping or a string")
	}
}

var thresholdOps = []ast.ThresholdOp{ast.OpLT, ast.OpLTE, ast.OpGT, ast.OpGTE, ast.OpEQ, ast.OpNEQ}

// threshold reads the mapping form of a condition. Thresholds are kept in the
// order in which displays show them.
func (d *draft) threshold(c *correlation, v *document.Node) {
	cond, t := &c.Rule.Condition, c.Rule.Type
	if t == ast.ValuePercentile {
		cond.Percentile = 50
	}
	operators := 0
	for _, e := range v.Entries {
		switch key := e.Key.Text; {
		case slices.Contains(thresholdOps, ast.ThresholdOp(key)):
			operators++
		case key == "field":
			if t == ast.ValueCount || t.Numeric() {
				cond.Fields = d.stringList("field", e.Value)
			}
		case key == "percentile":
			d.percentile(c, e.Value)
		default:
			d.unknownKey(e.Key, " of condition", conditionKeys)
		}
	}
	for _, op := range thresholdOps {
		n := v.Get(string(op))
		if n == nil {
			continue
		}
		value, ok := numberOf(n)
		if !ok {
			d.failKey(n.Line, "condition", "%s: expected numeric value: %s", op, n.Text)
			continue
		}
		cond.Thresholds = append(cond.Thresholds, ast.Threshold{Op: op, Value: value, Text: n.Text})
	}
	if operators == 0 {
		d.failKey(v.Line, "condition", "at least one of lt, lte, gt, gte, eq, neq is needed")
	}
	switch {
	case (t == ast.ValueCount || t.Numeric()) && len(cond.Fields) == 0:
		d.failKey(v.Line, "condition", "Missing required field 'field' for type %s", t)
	case t.Numeric() && len(cond.Fields) > 1:
		d.failCompile(v.Line, "correlation '%s': field: a single numeric field is required for type %s, not %q", d.Title, t, cond.Fields)
	}
}

func (d *draft) percentile(c *correlation, v *document.Node) {
	if t := c.Rule.Type; t != ast.ValuePercentile {
		if t != "" {
			d.warn(v.Line, "correlation '%s': percentile is ignored by type %s", d.Title, t)
		}
		return
	}
	p, ok := numberOf(v)
	if !ok || p < 0 || p > 100 {
		d.failKey(v.Line, "percentile", "%q is no number from 0 to 100", v.Text)
		return
	}
	c.Rule.Condition.Percentile = p
}

func numberOf(n *document.Node) (float64, bool) {
	if n.Kind != document.Int && n.Kind != document.Float {
		return 0, false
	}
	f, err := strconv.ParseFloat(n.Text, 64)
	return f, err == nil
}

func (d *draft) aliases(v *document.Node) []ast.Alias {
	if v == nil {
		return nil
	}
	if v.Kind != document.Map {
		d.warn(v.Line, "correlation '%s': aliases is not a mapping and is ignored", d.Title)
		return nil
	}
	var out []ast.Alias
	for _, e := range v.Entries {
		if e.Value.Kind != document.Map || e.Key.Kind != document.String {
			d.warn(e.Key.Line, "correlation '%s': alias '%s' is not a mapping and is ignored", d.Title, e.Key.Text)
			continue
		}
		alias := ast.Alias{Name: e.Key.Text}
		for _, f := range e.Value.Entries {
			field, ok := f.Value.Str()
			if !ok || f.Key.Kind != document.String {
				d.warn(f.Key.Line, "correlation '%s': field of alias '%s' is not a string and is ignored", d.Title, alias.Name)
				continue
			}
			alias.Fields = append(alias.Fields, ast.AliasField{Rule: f.Key.Text, Field: field})
		}
		out = append(out, alias)
	}
	return out
}
