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
	given, err := l.readFlags(flags)
	if err != nil {
		return err
	}
	m.apply(given)
	return l.Check(section)
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
func (l *Loaded) readFlags(flags []Flag) (*layer, error) {
	out := &layer{kind: LayerFlag, origin: "the command line"}
	for _, given := range flags {
		f := l.flagField(given.Name)
		if f == nil {
			return nil, fmt.Errorf("flag --%s does not belong to this command", given.Name)
		}
		if err := out.addFlag(f, given.Values); err != nil {
			return nil, fmt.Errorf("--%s: %w", given.Name, err)
		}
	}
	return out, nil
}

func (l *layer) addFlag(f *field, values []string) error {
	if len(values) == 0 {
		return errors.New("a value is missing")
	}
	if f.env != "" && values[0] == "" {
		return nil // an empty variable is an unset one
	}
	if f.mode == "on" && values[0] == "false" {
		return nil // such a flag can only turn on
	}
	switch {
	case f.typ == reflect.TypeFor[Dimensions]():
		d, err := parseDimensions(values[len(values)-1])
		if err != nil {
			return err
		}
		l.settings = append(l.settings, setting{field: f}, setting{field: f, value: reflect.ValueOf(d)})
		return nil
	case f.entries():
		return l.addEntries(f, values)
	}
	var d decoder
	v := reflect.New(f.typ).Elem()
	if err := d.decode("", flagNode(f, values), v); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), ": "))
	}
	l.settings = append(l.settings, setting{field: f, value: v})
	return nil
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
func (l *layer) addEntries(f *field, values []string) error {
	for _, text := range values {
		key, val, ok := strings.Cut(text, "=")
		if key = strings.TrimSpace(key); !ok || key == "" {
			return fmt.Errorf("%q: want NAME=N", text)
		}
		v := reflect.New(f.typ.Elem()).Elem()
		n := &yaml.Node{Kind: yaml.ScalarNode, Value: strings.TrimSpace(val)}
		if err := new(decoder).decode(key, n, v); err != nil {
			return fmt.Errorf("%w (%d to %d)", err, *f.min, *f.max)
		}
		l.settings = append(l.settings, setting{field: f, entry: key, value: v})
	}
	return nil
}

// parseDimensions reads product=..,service=..,category=..,custom.NAME=..;
// empty parts and empty values say nothing.
func parseDimensions(text string) (Dimensions, error) {
	var d Dimensions
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		if part == "" {
			continue
		}
		key, val, ok := strings.Cut(part, "=")
		if !ok {
			return d, fmt.Errorf("%q: want DIMENSION=VALUE", part)
		}
		key, val = strings.TrimSpace(key), strings.TrimSpace(val)
		if err := d.set(key, val); err != nil {
			return d, err
		}
	}
	return d, nil
}

func (d *Dimensions) set(key, val string) error {
	custom, isCustom := strings.CutPrefix(key, "custom.")
	switch {
	case isCustom && custom == "":
		return fmt.Errorf("%q: the custom dimension needs a name", key)
	case !isCustom && key != "product" && key != "service" && key != "category":
		return fmt.Errorf("unknown dimension %q (product, service, category, custom.NAME)", key)
	case val == "":
	case isCustom:
		if d.Custom == nil {
			d.Custom = make(map[string]string)
		}
		d.Custom[custom] = val
	case key == "product":
		d.Product = val
	case key == "service":
		d.Service = val
	default:
		d.Category = val
	}
	return nil
}
