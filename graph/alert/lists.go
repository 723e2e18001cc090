package alert

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/sluicehq/sluice/graph/alert/inhibit"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/selector"
	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/strict"
)

// rule is a rule of inhibition as it is written.
type rule struct {
	Name     string               `yaml:"name"`
	Source   []selector.Condition `yaml:"source_match"`
	Target   []selector.Condition `yaml:"target_match"`
	Equal    []string             `yaml:"equal"`
	Duration *span                `yaml:"duration"`
}

// element reads an element of a list into what into points to. It has a key of its own, such
// as silences[2], and so have its settings. readable is false if one of them has a value that
// cannot be read.
func (b *builder) element(key string, n *document.Node, into any) (readable bool) {
	lines, faults := strict.Decode(n, into)
	for below, line := range lines {
		if below != "" {
			below = "." + below
		}
		b.lines[key+below] = line
	}
	readable = n.Kind == document.Map
	for _, f := range faults {
		readable = readable && f.Key == ""
		b.found(key, f)
	}
	return readable
}

func (b *builder) rules(in []*document.Node) []inhibit.Rule {
	const section = "inhibit_rules"
	var out []inhibit.Rule
	taken := make(map[string]bool)
	for i, n := range in {
		at := fmt.Sprintf("%s[%d]", section, i)
		var r rule
		b.element(at, n, &r)
		if n.Kind != document.Map {
			continue
		}
		name := cmp.Or(r.Name, fmt.Sprintf("inhibit_rule_%d", i))
		if taken[name] {
			b.fail(at+".name", fmt.Errorf("%s: the name '%s' is there twice (give each rule its own)", section, name))
		}
		taken[name] = true
		made := inhibit.Rule{Name: name, Duration: b.span(at+".duration", r.Duration, 5*60)}
		read := !b.refused[at+".source_match"] && !b.refused[at+".target_match"]
		if read && (len(r.Source) == 0 || len(r.Target) == 0) {
			b.fail(at, fmt.Errorf("%s: rule '%s' needs both source_match and target_match, with a matcher each", section, name))
		}
		var err error
		if made.Source, err = selector.CompileAll(r.Source); err != nil {
			b.fail(at+".source_match", fmt.Errorf("%s: rule '%s': source_match: %w", section, name, err))
		}
		if made.Target, err = selector.CompileAll(r.Target); err != nil {
			b.fail(at+".target_match", fmt.Errorf("%s: rule '%s': target_match: %w", section, name, err))
		}
		if made.Equal, err = selectors(r.Equal); err != nil {
			b.fail(at+".equal", fmt.Errorf("%s.equal: rule '%s': %w", section, name, err))
		}
		out = append(out, made)
	}
	return out
}

func (b *builder) silences(in []*document.Node) []*silence.Silence {
	const section = "silences"
	var out []*silence.Silence
	for i, n := range in {
		at := fmt.Sprintf("%s[%d]", section, i)
		var spec silence.Spec
		if !b.element(at, n, &spec) {
			continue
		}
		s, err := silence.Compile(spec, silence.Static, 0)
		if err != nil {
			b.fail(at, fmt.Errorf("%s: %w", at, err))
			continue
		}
		out = append(out, s)
	}
	if len(out) == len(in) {
		var same *silence.SameIDError
		if err := silence.NameStatics(out); errors.As(err, &same) {
			b.fail(fmt.Sprintf("%s[%d].id", section, same.Second), err)
		}
	}
	return out
}
