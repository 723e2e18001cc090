package jsonpath

import (
	"regexp"
	"regexp/syntax"
	"sync"

	"github.com/theory/jsonpath/registry"
	"github.com/theory/jsonpath/spec"
)

// functions are those of the standard. In match and search the library fails where a
// value is not there, takes an alternative at the top of an expression for two halves of
// it, and compiles the expression for each value.
func functions() *registry.Registry {
	all, original := registry.New(), registry.New()
	for name, frame := range map[string][2]string{"match": {`\A(?:`, `)\z`}, "search": {"", ""}} {
		f := all.Get(name)
		m := &matcher{before: frame[0], behind: frame[1], kept: make(map[string]*regexp.Regexp)}
		*f = *spec.Extension(f.Name(), f.ReturnType(), original.Get(name).Validate, m.call)
	}
	return all
}

// maxPatterns is how many compiled regular expressions are kept. Queries may take them
// from values.
const maxPatterns = 64

// matcher is a function that matches texts.
type matcher struct {
	before, behind string // of the expression

	mu   sync.Mutex // guards kept
	kept map[string]*regexp.Regexp
}

func (m *matcher) call(args []spec.PathValue) spec.PathValue {
	text, ok := textOf(args[0])
	source, also := textOf(args[1])
	if !ok || !also {
		return spec.LogicalFalse
	}
	re := m.pattern(source)
	return spec.Logical(re != nil && re.MatchString(text))
}

// textOf is the string that an argument is, if it is one.
func textOf(arg spec.PathValue) (string, bool) {
	v, ok := arg.(*spec.ValueType)
	if !ok || v == nil {
		return "", false
	}
	s, ok := v.Value().(string)
	return s, ok
}

// pattern compiles an expression; nil is one that there is not.
func (m *matcher) pattern(source string) *regexp.Regexp {
	m.mu.Lock()
	defer m.mu.Unlock()
	re, ok := m.kept[source]
	if !ok {
		if len(m.kept) >= maxPatterns {
			clear(m.kept)
		}
		re = compile(m.before, source, m.behind)
		m.kept[source] = re
	}
	return re
}

// compile is an expression of RFC 9485, whose dot is no line break of either kind.
func compile(before, source, behind string) *regexp.Regexp {
	parsed, err := syntax.Parse(source, syntax.Perl|syntax.DotNL)
	if err != nil {
		return nil
	}
	dot, err := syntax.Parse(`[^\n\r]`, syntax.Perl)
	if err != nil {
		return nil
	}
	var replace func(re *syntax.Regexp)
	replace = func(re *syntax.Regexp) {
		if re.Op == syntax.OpAnyChar {
			*re = *dot
			return
		}
		for _, sub := range re.Sub {
			replace(sub)
		}
	}
	replace(parsed)
	re, err := regexp.Compile(before + parsed.String() + behind)
	if err != nil {
		return nil
	}
	return re
}
