package config

import (
	"slices"
	"strings"
)

// Misread takes out of the warnings what was not understood of a section, and returns it:
// unknown keys below it, the section left empty, and variables that cannot be read and
// would have set some of it.
func (l *Loaded) Misread(section string) Problems {
	within := func(key string) bool { return key == section || strings.HasPrefix(key, section+".") }
	var out Problems
	l.UnknownKeys = slices.DeleteFunc(l.UnknownKeys, func(p Problem) bool {
		if !within(p.Key) {
			return false
		}
		p.Message = "unknown config key: correct or remove it"
		out = append(out, p)
		return true
	})
	l.Warnings = slices.DeleteFunc(l.Warnings, func(p Problem) bool {
		if p.Key == section {
			out = append(out, p)
		}
		return p.Key == section
	})
	l.Ignored = slices.DeleteFunc(l.Ignored, func(p Problem) bool {
		if p.variable == "" || !within(p.variable) && !strings.HasPrefix(section, p.variable+".") {
			return false
		}
		out = append(out, Problem{Key: p.variable, Message: p.cause})
		return true
	})
	return out
}
