package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// FlagInfo describes a flag of a section to whoever parses command lines.
type FlagInfo struct {
	Name    string
	Short   string
	Env     string
	Help    string
	Default string // empty when unset
	Section string // heading in help
	Word    string // stands for the value in help; empty for switches
	Bool    bool   // takes no value
	List    bool   // may be repeated
}

// FlagsOf lists the flags of a section ("global", "daemon", "eval"), in the
// order of the tree.
func FlagsOf(section string) []FlagInfo {
	top := tree().child(section)
	defaults := reflect.ValueOf(Default()).Elem()
	var infos []FlagInfo
	for _, f := range flagged(top) {
		infos = append(infos, FlagInfo{
			Name: f.flag, Short: f.short, Env: f.env, Help: helpOf(f), Section: headingOf(f),
			Default: defaultText(at(defaults, f.index, false)),
			Bool:    f.typ.Kind() == reflect.Bool && f.mode != "value",
			List:    f.typ.Kind() == reflect.Slice || f.entries(),
			Word:    wordOf(f),
		})
	}
	return infos
}

// CheckFlags checks flags by themselves, for commands that load nothing.
func CheckFlags(section string, flags []Flag) error {
	root := tree()
	m := newMerged(root)
	l := &Loaded{Config: m.config, section: section, root: root, sources: m.sources}
	given := l.readFlags(flags)
	m.apply(given)
	return append(Problems(given.problems), l.Check(section)...).orNil()
}

// flagged returns the fields below f that have a flag, sections included.
func flagged(f *field) []*field {
	var out []*field
	for _, c := range f.children {
		if c.flag != "" {
			out = append(out, c)
			continue
		}
		out = append(out, flagged(c)...)
	}
	return out
}

func (l *Loaded) flagField(name string) *field {
	for _, section := range []string{l.section, "global"} {
		if top := l.root.child(section); top != nil {
			for _, f := range flagged(top) {
				if f.flag == name {
					return f
				}
			}
		}
	}
	return nil
}

// readFlags turns the given flags into the highest layer.
func (l *Loaded) readFlags(flags []Flag) *layer {
	out := &layer{kind: LayerFlag, name: "the command line"}
	for _, given := range flags {
		f := l.flagField(given.Name)
		if f == nil {
			out.problems = append(out.problems, Problem{Key: "--" + given.Name, Message: "does not belong to this command"})
			continue
		}
		out.addFlag(f, given.Values)
	}
	for i := range out.problems {
		out.problems[i].Line = 0
	}
	return out
}

// flagValue is a section that one flag gives as a whole.
type flagValue interface{ Set(text string) error }

func (l *layer) addFlag(f *field, values []string) {
	name := "--" + f.flag
	last := ""
	if len(values) > 0 {
		last = values[len(values)-1]
	}
	v := reflect.New(f.typ)
	section, whole := v.Interface().(flagValue)
	switch {
	case len(values) == 0:
		l.fault(&yaml.Node{}, name, errors.New("a value is missing"))
	case f.env != "" && last == "": // an empty variable is an unset one
	case f.mode == "on" && last == "false": // such a flag can only turn on
	case whole:
		if err := section.Set(last); err != nil {
			l.fault(&yaml.Node{}, name, err)
			return
		}
		l.settings = append(l.settings, setting{field: f}, setting{field: f, value: v.Elem()})
	case f.entries():
		l.addEntries(f, name, values)
	case l.decode(name, flagNode(f, values), v.Elem()):
		l.settings = append(l.settings, setting{field: f, value: v.Elem()})
	}
}

// flagNode writes flag values as YAML. Text stays text, whatever it looks like.
func flagNode(f *field, values []string) *yaml.Node {
	if f.typ.Kind() == reflect.Slice {
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, v := range values {
			list.Content = append(list.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: v})
		}
		return list
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: values[len(values)-1]}
	if f.typ.Kind() == reflect.String {
		n.Tag = "!!str"
	}
	return n
}

// addEntries reads NAME=N, once per entry.
func (l *layer) addEntries(f *field, name string, values []string) {
	for _, text := range values {
		key, val, ok := strings.Cut(text, "=")
		v := reflect.New(f.typ.Elem()).Elem()
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: strings.TrimSpace(val)}
		if key = strings.TrimSpace(key); !ok || key == "" {
			l.fault(n, name, fmt.Errorf("%q: want NAME=N%s", text, allowed(f)))
		} else if l.decode(name+": "+key, n, v) {
			l.settings = append(l.settings, setting{field: f, entry: key, value: v})
		}
	}
}
