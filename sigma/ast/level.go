package ast

import (
	"fmt"
	"slices"
)

// Level is the severity of a rule. The zero value means that the rule states
// none; the others are ordered, so that they can be compared with < and >.
type Level uint8

// The levels of the Sigma specification, lowest first.
const (
	LevelNone Level = iota
	LevelInformational
	LevelLow
	LevelMedium
	LevelHigh
	LevelCritical
)

var levelNames = [...]string{"", "informational", "low", "medium", "high", "critical"}

// String returns the name as Sigma spells it; LevelNone gives the empty string.
func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// LevelNames returns the names of the levels, lowest first.
func LevelNames() []string { return slices.Clone(levelNames[1:]) }

// ParseLevel accepts exactly the five lower-case names.
func ParseLevel(s string) (Level, error) {
	for i, name := range levelNames[1:] {
		if s == name {
			return Level(i + 1), nil
		}
	}
	return LevelNone, fmt.Errorf("unknown level %q (informational, low, medium, high, critical)", s)
}

// MarshalText makes levels readable wherever a tree is printed or stored.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is the inverse of MarshalText; empty text is LevelNone.
func (l *Level) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*l = LevelNone
		return nil
	}
	v, err := ParseLevel(string(b))
	*l = v
	return err
}
