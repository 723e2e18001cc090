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
// sets nothing: sections are empty, and each key waits behind a comment sign, as does a
// section that must not be empty.
func Template() []byte {
	var b bytes.Buffer
	b.WriteString("# Configuration of sluice. Remove the # in front of a setting to change it; what is left\n")
	b.WriteString("# out keeps the value shown. Durations are text such as 30d or 1h 30m.\n\n")
	fmt.Fprintf(&b, "version: %d\n", Version)
	defaults := reflect.ValueOf(Default()).Elem()
	var open []string // sections around the setting before
	tree().walk(func(f *field) {
		parts := strings.Split(f.path, ".")
		last := len(parts) - 1
		if f.name == "" || last == 0 {
			return
		}
		section := tree()
		for i, name := range parts[:last] {
			if i < len(open) && open[i] == name {
				section = section.child(name)
				continue
			}
			if i == 0 {
				b.WriteByte('\n')
			}
			section = section.child(name)
			sign := ""
			if section.absent() {
				sign = "#" // remove it, too: the section must not be empty
			}
			fmt.Fprintf(&b, "%s%s%s:\n", strings.Repeat("  ", i), sign, name)
			open = append(open[:i:i], name)
		}
		open = open[:last]
		indent := strings.Repeat("  ", last)
		if f.help != "" {
			fmt.Fprintf(&b, "%s# %s\n", indent, f.help)
		}
		fmt.Fprintf(&b, "%s#%s:", indent, f.name)
		if text := fileText(at(defaults, f.index, false)); text != "" {
			b.WriteString(" " + text)
		}
		b.WriteByte('\n')
	})
	return b.Bytes()
}

// fileText is a value as a file writes it on one line, empty when it is unset.
func fileText(v reflect.Value) string {
	if !v.IsValid() {
		return ""
	}
	if size, ok := v.Interface().(timespan.Bytes); ok {
		return size.String()
	}
	value := plain(v)
	var n yaml.Node
	if value == nil || n.Encode(value) != nil {
		return ""
	}
	n.Style = yaml.FlowStyle
	text, err := yaml.Marshal(&n)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
