package selector

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/strict"
	"github.com/sluicehq/sluice/internal/suggest"
)

// The operators of matchers.
const (
	Equal    = "="  // the text is the value
	NotEqual = "!=" // it is not
	Like     = "=~" // the expression matches the whole text
	NotLike  = "!~" // it does not
)

// Condition is a matcher as it is written: {selector, op, value}, in files, which package
// strict reads, and in JSON. An absent op is Equal; selector and value are required, and
// there is no other key. In a file any single value is taken as its text, a number as its
// digits; in JSON it is a string.
type Condition struct {
	Selector string `json:"selector"`
	Op       string `json:"op"`
	Value    string `json:"value"`
}

// read sets the condition from its parts, which are nil if they are absent.
func (c *Condition) read(selector, op, value *string) error {
	switch {
	case selector == nil || strings.TrimSpace(*selector) == "":
		return errors.New("a matcher needs a selector")
	case value == nil:
		return fmt.Errorf("the matcher of '%s' needs a value", *selector)
	}
	*c = Condition{Selector: *selector, Op: Equal, Value: *value}
	if op != nil {
		c.Op = *op
	}
	return nil
}

var keys = []string{"selector", "op", "value"}

func unknownKey(key string) error {
	return fmt.Errorf("a matcher has no key '%s' (%s)%s", key, strings.Join(keys, ", "), suggest.Behind(key, keys))
}

// UnmarshalJSON implements json.Unmarshaler.
func (c *Condition) UnmarshalJSON(data []byte) error {
	notText := errors.New("a matcher is an object whose members selector, op and value are strings")
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return notText
	}
	texts := make(map[string]*string)
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if !slices.Contains(keys, key) {
			return unknownKey(key)
		}
		var text *string
		if json.Unmarshal(members[key], &text) != nil {
			return notText
		}
		texts[key] = text
	}
	return c.read(texts["selector"], texts["op"], texts["value"])
}

// ReadNode reads a matcher of a file, for package strict.
func (c *Condition) ReadNode(n *document.Node) error {
	var in struct {
		Selector *string `yaml:"selector"`
		Op       *string `yaml:"op"`
		Value    *scalar `yaml:"value"`
	}
	if n.Kind != document.Map {
		return errors.New("a matcher is a mapping of selector, op and value")
	}
	if _, faults := strict.Decode(n, &in); len(faults) > 0 {
		return fmt.Errorf("a matcher: %w", faults[0])
	}
	return c.read(in.Selector, in.Op, (*string)(in.Value))
}

// scalar is the text of any single value.
type scalar string

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *scalar) UnmarshalText(text []byte) error {
	*s = scalar(text)
	return nil
}

// Matcher compares the text of one value. It never changes, and any goroutine may use
// it.
type Matcher struct {
	selector   Selector
	op, value  string
	expression *regexp.Regexp
	part       []byte // what every text has that the expression matches
	negated    bool
}

// Compile reads a matcher. The expression of Like and NotLike is one of package regexp,
// in which (?i) makes case not matter.
func Compile(c Condition) (Matcher, error) {
	s, err := Parse(c.Selector)
	if err != nil {
		return Matcher{}, err
	}
	m := Matcher{selector: s, op: c.Op, value: c.Value}
	switch c.Op {
	case "":
		m.op = Equal
	case Equal, Like:
	case NotEqual, NotLike:
		m.negated = true
	default:
		return Matcher{}, fmt.Errorf("matcher of '%s': unknown op '%s' (%s, %s, %s, %s)", m.selector.text, c.Op, Equal, NotEqual, Like, NotLike)
	}
	if m.op == Like || m.op == NotLike {
		if m.expression, m.part, err = compileWhole(c.Value); err != nil {
			return Matcher{}, fmt.Errorf("matcher of '%s': %w", m.selector.text, err)
		}
	}
	return m, nil
}

// maxInstructions is how large an expression may be once its repetitions are written
// out.
const maxInstructions = 20_000

// compileWhole reads an expression that has to match whole texts. It is read alone
// first: with the brackets around it a fault could have a meaning, and \Q no end. Part is
// what every text has that it matches, for a test that costs less.
func compileWhole(expression string) (compiled *regexp.Regexp, part []byte, err error) {
	parsed, err := syntax.Parse(expression, syntax.Perl)
	if err == nil && instructions(parsed) > maxInstructions {
		err = fmt.Errorf("it has more than %d instructions: use fewer or smaller repetitions", maxInstructions)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("expression '%s' cannot be used: %w", expression, err)
	}
	compiled, err = regexp.Compile(`^(?:` + parsed.String() + `)$`)
	return compiled, []byte(required(parsed)), err
}

// required is a text that stands in every text that the expression matches, the longest
// that is seen at once.
func required(re *syntax.Regexp) string {
	longest := ""
	switch re.Op {
	case syntax.OpLiteral:
		text := string(re.Rune)
		if re.Flags&syntax.FoldCase == 0 && !strings.ContainsRune(text, utf8.RuneError) { // which stands for broken bytes too
			longest = text
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if text := required(sub); len(text) > len(longest) {
				longest = text
			}
		}
	case syntax.OpCapture, syntax.OpPlus:
		longest = required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			longest = required(re.Sub[0])
		}
	}
	return longest
}

// instructions is about how many instructions an expression is compiled to.
func instructions(re *syntax.Regexp) int {
	n := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		n = min(n+instructions(sub), 2*maxInstructions)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min+1, re.Max)
	}
	return min(n, 2*maxInstructions)
}

// Condition returns the matcher as it is written, with its selector in canonical form.
func (m *Matcher) Condition() Condition {
	return Condition{Selector: m.selector.text, Op: m.op, Value: m.value}
}

// ReadsEvent reports whether the matcher's value lies in the event.
func (m *Matcher) ReadsEvent() bool { return m.selector.ReadsEvent() }

// Selector is what the matcher reads.
func (m *Matcher) Selector() *Selector { return &m.selector }

// Matches reports whether the result's value is as the matcher says. Scratch is memory
// for its text, which is returned for the next call.
func (m *Matcher) Matches(r *graph.Result, scratch []byte) (bool, []byte) {
	scratch, _ = m.selector.AppendText(scratch[:0], r)
	return m.MatchesText(scratch), scratch
}

// MatchesText reports whether a value of this text, empty for an absent one, is as the
// matcher says.
func (m *Matcher) MatchesText(text []byte) bool {
	if m.expression == nil {
		return (string(text) == m.value) != m.negated
	}
	return (bytes.Contains(text, m.part) && m.expression.Match(text)) != m.negated
}

// Matchers is a set: all of them have to match.
type Matchers []Matcher

// CompileAll reads a set. The error joins every fault, with the number of its matcher:
// "matchers[1]: unknown selector ...".
func CompileAll(conditions []Condition) (Matchers, error) {
	var faults []error
	set := make(Matchers, 0, len(conditions))
	for i, c := range conditions {
		m, err := Compile(c)
		if err != nil {
			faults = append(faults, fmt.Errorf("matchers[%d]: %w", i, err))
		}
		set = append(set, m)
	}
	if len(faults) > 0 {
		return nil, errors.Join(faults...)
	}
	return set, nil
}

// Match reports whether all matchers match; an empty set never does. Scratch is that of
// Matcher.Matches.
func (ms Matchers) Match(r *graph.Result, scratch []byte) (bool, []byte) {
	for i := range ms {
		var ok bool
		if ok, scratch = ms[i].Matches(r, scratch); !ok {
			return false, scratch
		}
	}
	return len(ms) > 0, scratch
}

// ReadsEvent reports whether a matcher's value lies in the event.
func (ms Matchers) ReadsEvent() bool {
	for i := range ms {
		if ms[i].ReadsEvent() {
			return true
		}
	}
	return false
}
