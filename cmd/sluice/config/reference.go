package config

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"

	"github.com/sluicehq/sluice/internal/unavailable"
)

// Reference describes every setting in Markdown: one table per part of the tree,
// with key, flag, default and meaning. What this build does not have is marked.
func Reference() ([]byte, error) {
	var b bytes.Buffer
	defaults := reflect.ValueOf(Default()).Elem()
	for _, top := range tree().children {
		if !top.isSection() {
			continue
		}
		fmt.Fprintf(&b, "\n## `%s`\n", top.name)
		if err := referenceSection(&b, top, defaults); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// referenceSection writes the settings of f that lie directly below it, then
// its sections.
func referenceSection(b *bytes.Buffer, f *field, defaults reflect.Value) error {
	var own, below []*field
	for _, c := range f.members() {
		switch {
		case !c.isSection() || c.flag != "": // one flag for all of a section
			own = append(own, c)
		case c.name == "": // flags only
			c.walk(func(leaf *field) { own = append(own, leaf) })
		default:
			below = append(below, c)
		}
	}
	if len(own) > 0 {
		b.WriteString("\n| Key | Flag | Default | Meaning |\n|---|---|---|---|\n")
	}
	for _, c := range own {
		var value string
		if !c.isSection() {
			var err error
			if value, err = templateValue(at(defaults, c.index, false)); err != nil {
				return err
			}
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", code(keyOf(c)), referenceFlag(c), code(strings.TrimSpace(value)), referenceText(c))
	}
	for _, c := range below {
		fmt.Fprintf(b, "\n### `%s`\n", c.path)
		if err := referenceSection(b, c, defaults); err != nil {
			return err
		}
	}
	return nil
}

func keyOf(f *field) string {
	if f.name == "" {
		return ""
	}
	return f.path
}

func referenceFlag(f *field) string {
	if f.flag == "" {
		return ""
	}
	text := "--" + f.flag
	if f.short != "" {
		text = "-" + f.short + ", " + text
	}
	if f.env != "" {
		return code(text) + ", " + code("$"+f.env)
	}
	return code(text)
}

func referenceText(f *field) string {
	text := strings.ReplaceAll(helpOf(f), "|", "\\|")
	if text != "" {
		text += "."
	}
	switch _, refuse, ok := unavailable.Setting(f.path, f.flag); {
	case ok && refuse:
		text += " *Not in this build: refused.*"
	case ok:
		text += " *Not in this build: no effect.*"
	}
	return strings.TrimSpace(text)
}

// code marks text up, and leaves what is empty empty.
func code(text string) string {
	if text == "" || text == `""` {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "|", "\\|") + "`"
}
