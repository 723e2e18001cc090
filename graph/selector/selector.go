package selector

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// Selector names one value of a result. It never changes, and any goroutine may use it.
type Selector struct {
	text  string // canonical
	space space
	rest  string     // behind the namespace
	path  graph.Path // of rest
}

// space is the part of a result that a selector reads.
type space uint8

const (
	ofRule space = iota
	ofLevel
	ofEvent
	ofMatch
	ofEnrichment
	ofGroupKey
)

var spaces = []struct {
	prefix string
	space  space
	path   bool // the rest is a path, of which empty steps are dropped
}{
	{"event.", ofEvent, true},
	{"match.", ofMatch, false},
	{"enrichment.", ofEnrichment, true},
	{"correlation.group_key.", ofGroupKey, false},
}

// Parse reads a selector. White space around it and empty steps of paths do not count.
func Parse(text string) (Selector, error) {
	clean := strings.TrimSpace(text)
	switch clean {
	case "rule":
		return Selector{text: clean, space: ofRule}, nil
	case "level":
		return Selector{text: clean, space: ofLevel}, nil
	}
	for _, s := range spaces {
		rest, found := strings.CutPrefix(clean, s.prefix)
		if !found && clean+"." != s.prefix {
			continue
		}
		var path graph.Path
		if s.path {
			rest = strings.TrimRightFunc(rest, func(r rune) bool { return r == '.' || unicode.IsSpace(r) })
			keys := slices.DeleteFunc(strings.Split(rest, "."), func(step string) bool { return step == "" })
			path, rest = graph.KeyPath(keys), strings.Join(keys, ".")
		}
		if !found || rest == "" {
			return Selector{}, fmt.Errorf("selector '%s' names nothing behind '%s'", text, s.prefix)
		}
		return Selector{s.prefix + rest, s.space, rest, path}, nil
	}
	return Selector{}, fmt.Errorf("unknown selector '%s' (rule, level, event.<path>, match.<field>, enrichment.<path>, correlation.group_key.<field>)", text)
}

// String returns the canonical text, which output and fingerprints show.
func (s *Selector) String() string { return s.text }

// ReadsEvent reports whether the value lies in the event, which few results carry.
func (s *Selector) ReadsEvent() bool { return s.space == ofEvent }

// AppendText appends the text of the value; false says that it is absent.
func (s *Selector) AppendText(dst []byte, r *graph.Result) ([]byte, bool) {
	if text, ok, is := s.verbatim(r); is {
		return append(dst, text...), ok
	}
	v, ok := s.find(r)
	switch {
	case !ok:
		return dst, false
	case v.Type == event.String:
		return event.AppendUnquoted(dst, v.Raw), true
	}
	return event.AppendCompact(dst, v.Raw), true
}

// AppendJSON appends the value as compact JSON; false says that it is absent, and
// nothing was appended.
func (s *Selector) AppendJSON(dst []byte, r *graph.Result) ([]byte, bool) {
	if text, ok, is := s.verbatim(r); is {
		if !ok {
			return dst, false
		}
		return event.AppendQuoted(dst, text), true
	}
	v, ok := s.find(r)
	if !ok {
		return dst, false
	}
	return event.AppendCompact(dst, v.Raw), true
}

// verbatim returns the value of a selector whose values are texts; is says that it is one.
func (s *Selector) verbatim(r *graph.Result) (text string, ok, is bool) {
	switch s.space {
	case ofRule:
		return r.RuleKey(), true, true
	case ofLevel:
		return r.Level().String(), r.Level() != ast.LevelNone, true
	case ofGroupKey:
		text, ok = r.GroupValue(s.rest)
		return text, ok, true
	}
	return "", false, false
}

// find returns the value of a selector whose values are JSON.
func (s *Selector) find(r *graph.Result) (v event.Value, ok bool) {
	switch s.space {
	case ofEvent:
		if v, ok = r.Event(); ok {
			v, ok = s.path.In(v)
		}
	case ofMatch:
		v, ok = r.Field(s.rest)
	case ofEnrichment:
		v, ok = r.Enrichment(s.rest, s.path)
	}
	return v, ok && v.Type != event.Null
}
