package correlation

import (
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
)

// Program is the compiled form of the correlations of one rule set. It never changes
// and may be shared by goroutines.
type Program = program.Program

// Rule is a correlation rule as results show it.
type Rule = program.Rule

// Options are the settings of correlations that state none of their own.
type Options = program.Options

// Action says what happens to a group that has fired.
type Action = program.Action

// EventMode says which events a result carries.
type EventMode = program.EventMode

// The event modes.
const (
	EventsNone = program.EventsNone
	EventsFull = program.EventsFull
	EventsRefs = program.EventsRefs
)

// MaxLevels is the number of levels of dependent correlations that a firing is
// forwarded to.
const MaxLevels = program.MaxLevels

// Compile compiles correlations over the detection rules of the same load.
func Compile(correlations []*ast.Correlation, rules []*ast.Rule, o Options) (*Program, error) {
	return program.Compile(correlations, rules, o)
}

// ParseEventMode reads an event mode, aliases included.
func ParseEventMode(s string) (EventMode, error) { return program.ParseEventMode(s) }
