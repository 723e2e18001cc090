package load

import (
	"maps"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load/internal/check"
)

// memory holds what was read of the parts that documents of one file have in common,
// which action lays under each other.
type memory map[part]recalled

type part struct {
	node    *document.Node
	what    string
	version int
}

type recalled struct {
	value    any
	problems []ast.Problem
	warnings []ast.Problem
	written  map[check.Spelling][]string
}

// recall returns what read makes of v, which is read once however many documents of
// the file have it. What it reports is reported of each.
func recall[T any](d *draft, what string, v *document.Node, version int, read func() T) T {
	if d.memory == nil {
		return read()
	}
	key := part{v, what, version}
	if have, ok := d.memory[key]; ok {
		d.adopt(have.problems, have.warnings)
		if d.Written == nil {
			d.Written = have.written
		}
		maps.Copy(d.Written, have.written)
		value, _ := have.value.(T) // a nil of an interface type is none
		return value
	}
	problems, warnings := len(d.Problems), len(d.Warnings)
	value := read()
	d.memory[key] = recalled{value, d.Problems[problems:], d.Warnings[warnings:], d.Written}
	return value
}
