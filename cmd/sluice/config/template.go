package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/sigma/timespan"
)

// Template writes a commented file that holds every key with its default. It
// sets nothing: sections are empty, and each key waits behind a comment sign.
func Template() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("# Configuration of sluice. Remove the # in front of a setting to change it; what is left\n")
	b.WriteString("# out keeps the value shown. Durations are text such as 30d or 1h 30m.\n\n")
	fmt.Fprintf(&b, "version: %d\n", Version)
	defaults := reflect.ValueOf(Default()).Elem()
	for _, top := range tree().children {
		if !top.isSection() {
			continue
		}
		fmt.Fprintf(&b, "\n%s:\n", top.name)
		if err := templateSection(&b, top, defaults, 1); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

func templateSection(b *bytes.Buffer, f *field, defaults reflect.Value, depth int) error {
	indent := strings.Repeat("  ", depth)
	for _, c := range f.members() {
		if c.name == "" {
			continue
		}
		if c.isSection() {
			fmt.Fprintf(b, "%s%s:\n", indent, c.name)
			if err := templateSection(b, c, defaults, depth+1); err != nil {
				return err
			}
			continue
		}
		if help := helpOf(c); help != "" {
			fmt.Fprintf(b, "%s# %s\n", indent, help)
		}
		value, err := templateValue(at(defaults, c.index, false))
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "%s#%s:%s\n", indent, c.name, value)
	}
	return nil
}

// templateValue is the value in flow form with a blank before it; nothing for
// what is unset.
func templateValue(v reflect.Value) (string, error) {
	if !v.IsValid() {
		return "", nil
	}
	if size, ok := v.Interface().(timespan.Bytes); ok {
		return " " + size.String(), nil
	}
	value := plain(v)
	if value == nil {
		return "", nil
	}
	var n yaml.Node
	if err := n.Encode(value); err != nil {
		return "", err
	}
	n.Style = yaml.FlowStyle
	text, err := yaml.Marshal(&n)
	return " " + strings.TrimSpace(string(text)), err
}
