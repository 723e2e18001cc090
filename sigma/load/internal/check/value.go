package check

import (
	"math"
	"net/netip"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Limits of dashes under windash: each accepts five characters, and Base64 has
// to spell all the combinations out.
const (
	maxDashes       = 8
	maxDashesBase64 = 4
)

// numberOperators compare as numbers.
const numberOperators = ast.OrderOperators | ast.TimeParts

// value checks one alternative of an item whose modifiers do not conflict.
func (c *checker) value(it *ast.Item, v *ast.Value, keyword bool) {
	m := it.Modifiers
	if !c.BeforePipelines && !v.Inserted && strings.Contains(v.Text, "${source.") {
		c.fail(it.Line, "unresolved source placeholder in detection value: %s", v.Text)
	}
	switch {
	case v.Kind == ast.Invalid:
	case m.Has(ast.Exists):
		c.presence(it, v)
	case v.Kind == ast.Null:
		c.null(it, keyword)
	case m.HasAny(numberOperators):
		if !isNumeric(v) {
			c.fail(it.Line, "expected numeric value: %s", v.Text)
		}
	case m.Has(ast.FieldRef):
		if v.HasWildcard() {
			c.fail(it.Line, "wildcards are not allowed in a field reference: %s", v.Text)
		}
	case m.Has(ast.Re):
		c.regex(it, v)
	case m.Has(ast.CIDR):
		if _, err := netip.ParsePrefix(v.Text); err != nil {
			c.fail(it.Line, "invalid CIDR: %s", v.Text)
		}
	default:
		c.text(it, v)
	}
}

func (c *checker) presence(it *ast.Item, v *ast.Value) {
	switch {
	case v.Kind == ast.Bool:
	case v.Kind == ast.String && (v.Text == "true" || v.Text == "yes" || v.Text == "false" || v.Text == "no"):
	default:
		c.warn(it.Line, "value %q of '%s|exists' is neither true nor false and means true", v.Text, it.Field)
	}
}

func (c *checker) null(it *ast.Item, keyword bool) {
	const refused = numberOperators | ast.Modifiers(ast.Re|ast.CIDR|ast.FieldRef|ast.Expand)
	switch {
	case it.Modifiers.HasAny(refused):
		c.fail(it.Line, "null cannot be used with '%s'", it.Modifiers&refused)
	case keyword:
		c.warn(it.Line, "null as a keyword never matches")
	case len(it.Values) > 1:
		c.warn(it.Line, "null in the list of '%s' matches an absent field as well", it.Field)
	}
}

// text checks strings, and numbers that are used by their text.
func (c *checker) text(it *ast.Item, v *ast.Value) {
	m := it.Modifiers
	if m.HasAny(ast.Base64Encodings) && v.HasWildcard() {
		c.fail(it.Line, "wildcards cannot be used with '%s': %s", m&ast.Base64Encodings, v.Text)
	}
	if m.Has(ast.Base64Offset) && v.Text == "" && !m.Has(ast.UTF16) {
		c.fail(it.Line, "an empty value of '%s' cannot be used with 'base64offset': nothing has no place in an encoded text", it.Field)
	}
	if m.Has(ast.Expand) && m.HasAny(ast.Encodings) && !c.BeforePipelines && hasPlaceholder(v) {
		c.fail(it.Line, "placeholders cannot be used with '%s': %s", m&ast.Encodings, v.Text)
	}
	if !m.Has(ast.Windash) {
		return
	}
	limit := maxDashes
	if m.HasAny(ast.Base64Encodings) {
		limit = maxDashesBase64
	}
	if n := strings.Count(v.Text, "-"); n > limit {
		c.fail(it.Line, "windash value has %d dashes, the limit is %d: %s", n, limit, v.Text)
	}
}

// hasPlaceholder reports whether a %name% remains in the value.
func hasPlaceholder(v *ast.Value) bool {
	if v.Kind != ast.String {
		return false
	}
	_, rest, found := strings.Cut(v.Text, "%")
	for found {
		var name string
		name, rest, found = strings.Cut(rest, "%")
		if found && name != "" {
			return true
		}
	}
	return false
}

// isNumeric accepts numbers, and texts that are entirely a decimal number.
func isNumeric(v *ast.Value) bool {
	if v.Kind != ast.Number && v.Kind != ast.String {
		return false
	}
	for i := range len(v.Text) {
		if strings.IndexByte("0123456789+-.eE", v.Text[i]) < 0 {
			return false // what ParseFloat takes beyond decimal numbers
		}
	}
	f, err := strconv.ParseFloat(v.Text, 64)
	return err == nil && !math.IsInf(f, 0)
}
