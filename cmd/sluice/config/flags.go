package config

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"
)

// CheckFlags checks flags by themselves, for commands that load nothing.
func CheckFlags(section string, flags []Flag) error {
	l := newLoaded(section)
	given := l.readFlags(flags)
	l.apply(given)
	return append(Problems(given.problems), l.Check(section)...).orNil()
}

// flagField finds the setting of a flag in the command's section or in global.
func (l *Loaded) flagField(name string) *field {
	for _, section := range []string{l.section, "global"} {
		for _, f := range l.root.child(section).settings() {
			if f.flag == name {
				return f
			}
		}
	}
	return nil
}

// readFlags turns the given flags into the highest layer.
func (l *Loaded) readFlags(flags []Flag) *layer {
	out := &layer{kind: LayerFlag}
	for _, given := range flags {
		f := l.flagField(given.Name)
		if f == nil {
			out.problems = append(out.problems, Problem{Key: "--" + given.Name, Message: "does not belong to this command"})
			continue
		}
		out.addFlag(f, given.Values)
	}
	return out
}

func (l *layer) addFlag(f *field, values []string) {
	name := "--" + f.flag
	last := strings.Join(values[max(0, len(values)-1):], "")
	v := reflect.New(f.typ)
	switch {
	case len(values) == 0:
		l.fault(&yaml.Node{}, name, errors.New("a value is missing"))
	case f.env != "" && last == "": // an empty variable is an unset one
	case f.mode == "on" && last == "false": // such a flag can only turn on
	case l.addText(f, name, &yaml.Node{Value: last}):
	case f.entries():
		l.addEntries(f, name, values)
	case l.decode(name, flagNode(f, values), v.Elem()):
		l.settings = append(l.settings, setting{field: f, value: v.Elem()})
	}
}

// addText reads a section from a text, if it is one that can be given so.
func (l *layer) addText(f *field, name string, n *yaml.Node) bool {
	v := reflect.New(f.typ)
	section, whole := v.Interface().(interface{ Set(text string) error })
	if !whole {
		return false
	}
	if err := section.Set(n.Value); err != nil {
		return !l.fault(n, name, err)
	}
	l.settings = append(l.settings, setting{field: f, line: n.Line}, setting{field: f, value: v.Elem(), line: n.Line})
	return true
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
