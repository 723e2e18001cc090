package silences

import (
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/graph/selector"
)

// ParseMatcher reads a matcher such as rule=x, match.User!="a b" or level=~"high|critical".
// A value may stand in double quotes, in which \" is a quote and \\ a backslash; any other
// backslash is itself.
func ParseMatcher(text string) (selector.Condition, error) {
	at := strings.IndexAny(text, "=!")
	if at < 0 {
		return selector.Condition{}, fmt.Errorf("%q is no matcher: it has no =, !=, =~ or !~ (such as rule=x or match.User=~\"adm.*\")", text)
	}
	c := selector.Condition{Selector: strings.TrimSpace(text[:at])}
	rest := text[at:]
	for _, op := range []string{selector.Like, selector.NotEqual, selector.NotLike, selector.Equal} {
		if strings.HasPrefix(rest, op) {
			c.Op, rest = op, rest[len(op):]
			break
		}
	}
	if c.Op == "" {
		return c, fmt.Errorf("%q is no matcher: an operator is one of =, !=, =~ and !~", text)
	}
	if strings.HasPrefix(rest, "=") {
		return c, fmt.Errorf("%q is no matcher: an operator is one of =, !=, =~ and !~ (a value that begins with = stands in quotes)", text)
	}
	var err error
	if c.Value, err = unquoted(strings.TrimSpace(rest)); err != nil {
		return c, fmt.Errorf("%q is no matcher: %w", text, err)
	}
	m, err := selector.Compile(c)
	if err != nil {
		return c, fmt.Errorf("%q is no matcher: %w", text, err)
	}
	return m.Condition(), nil
}

// unquoted is a value without the quotes that it may stand in.
func unquoted(text string) (string, error) {
	if !strings.HasPrefix(text, `"`) {
		return text, nil
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"' && i == len(text)-1:
			return b.String(), nil
		case c == '"':
			return "", fmt.Errorf("something stands behind the quotes: %s", text[i+1:])
		case c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", fmt.Errorf("its value has no quote at the end")
}

var quote = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// FormatMatcher writes a matcher as ParseMatcher reads it.
func FormatMatcher(c selector.Condition) string {
	return c.Selector + c.Op + `"` + quote.Replace(c.Value) + `"`
}

// FormatMatchers writes all of them, with commas between.
func FormatMatchers(all []selector.Condition) string {
	texts := make([]string, len(all))
	for i, c := range all {
		texts[i] = FormatMatcher(c)
	}
	return strings.Join(texts, ", ")
}

// oneOf matches any of some texts.
func oneOf(of string, values []string) selector.Condition {
	if len(values) == 1 {
		return selector.Condition{Selector: of, Op: selector.Equal, Value: values[0]}
	}
	quoted := make([]string, len(values))
	for i, v := range values {
		quoted[i] = quoteExpression(v)
	}
	return selector.Condition{Selector: of, Op: selector.Like, Value: strings.Join(quoted, "|")}
}
