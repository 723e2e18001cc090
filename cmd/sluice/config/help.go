package config

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/sluicehq/sluice/internal/unavailable"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// helpOf is the one line that help, the template and the schema say about a
// setting. Sections share flags, and so their texts.
func helpOf(f *field) string {
	text := f.help
	if text == "" && f.flag != "" {
		text = sharedHelp[f.flag]
	}
	if text == "" {
		return ""
	}
	return text + allowed(f)
}

// sharedHelp has the first text of every flag.
var sharedHelp = func() map[string]string {
	texts := make(map[string]string)
	tree().walk(func(f *field) {
		if texts[f.flag] == "" {
			texts[f.flag] = f.help
		}
	})
	return texts
}()

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

// Unavailable is the heading of the flags in help that this build has no use for.
const Unavailable = "not in this build"

// headingOf groups flags in help by the part of the tree they belong to.
func headingOf(f *field) string {
	parts := strings.Split(f.path, ".")
	switch _, _, missing := unavailable.Setting(f.path, f.flag); {
	case missing:
		return Unavailable
	case len(parts) <= 2:
		return ""
	}
	return parts[1]
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
	if list, ok := v.Interface().([]string); ok {
		return strings.Join(list, ", ")
	}
	switch {
	case v.IsZero():
		return ""
	case v.Kind() == reflect.Pointer || v.Kind() == reflect.Struct || v.Kind() == reflect.Map:
		return ""
	}
	return fmt.Sprint(v.Interface())
}
