package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/sluicehq/sluice/internal/buildtags"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Setting describes a setting to whoever parses command lines, or explains it.
type Setting struct {
	Key     string // dotted; empty when only a flag may make it
	Flag    string // empty when only files and variables may make it
	Short   string
	Env     string
	Help    string
	Default string   // empty when unset
	Value   string   // the default as files write it
	Section string   // the dotted key of what it stands in
	Word    string   // stands for the flag's value in help; empty for a flag without one
	List    bool     // the flag may be repeated
	Words   []string // the values that it may have, when they are few
}

// Settings lists the settings of a section in the order of the tree. A section
// that one flag makes as a whole is one of them.
func Settings(section string) []Setting {
	known, found := described.Load(section)
	if !found {
		known, _ = described.LoadOrStore(section, describe(section))
	}
	return slices.Clone(known.([]Setting))
}

// described holds what describe found out, by section.
var described sync.Map

func describe(section string) []Setting {
	defaults := reflect.ValueOf(Default()).Elem()
	var out []Setting
	for _, f := range tree().child(section).settings() {
		v := at(defaults, f.index, false)
		s := Setting{
			Flag: f.flag, Short: f.short, Env: f.env, Help: f.help, Word: wordOf(f), Words: f.words,
			Section: f.path[:max(0, strings.LastIndexByte(f.path, '.'))],
			List:    f.typ.Kind() == reflect.Slice || f.entries(),
		}
		if f.name != "" {
			s.Key = f.path
		}
		if v.IsValid() && !f.isSection() {
			s.Default, s.Value = defaultText(v), fileText(v)
		}
		out = append(out, s)
	}
	return out
}

// FlagsOf lists those of a section ("global", "daemon", "eval") that have a flag in this
// build.
func FlagsOf(section string) []Setting {
	return slices.DeleteFunc(Settings(section), func(s Setting) bool { return s.Flag == "" || buildtags.LeavesOut(s.Flag) })
}

// settings are the leaves below f and the sections that one flag makes.
func (f *field) settings() []*field {
	if f == nil {
		return nil
	}
	var out []*field
	for _, c := range f.children {
		if c.isSection() && c.flag == "" {
			out = append(out, c.settings()...)
		} else {
			out = append(out, c)
		}
	}
	return out
}

// technical is where upper bounds begin that only keep a span countable; they go
// without saying.
const technical = 1_000_000_000

// allowed spells out what bounds and word lists permit.
func allowed(f *field) string {
	switch {
	case f.words != nil:
		return " (" + strings.Join(f.words, ", ") + ")"
	case f.min != nil && f.max != nil && *f.max < technical:
		return fmt.Sprintf(" (%d to %d)", *f.min, *f.max)
	}
	return ""
}

// wordOf names a flag's value after what it must be.
func wordOf(f *field) string {
	t := f.typ
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case f.word != "":
		return f.word
	case t == reflect.TypeFor[timespan.Bytes]():
		return "SIZE"
	case t == reflect.TypeFor[timespan.Duration]():
		return "DURATION"
	case t.Kind() == reflect.Bool && f.mode == "value":
		return "BOOL"
	case t.Kind() == reflect.Bool:
		return ""
	case t.Kind() == reflect.Int || t.Kind() == reflect.Int64:
		return "N"
	case t.Kind() == reflect.Map:
		return "NAME=N"
	}
	return "VALUE"
}

func defaultText(v reflect.Value) string {
	if p, ok := v.Interface().(interface{ Plain() any }); ok {
		v = reflect.ValueOf(p.Plain())
	}
	if list, ok := v.Interface().([]string); ok {
		return strings.Join(list, ", ")
	}
	if k := v.Kind(); v.IsZero() || k == reflect.Pointer || k == reflect.Map {
		return ""
	}
	return fmt.Sprint(v.Interface())
}
