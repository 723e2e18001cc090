package terminal

import "github.com/sluicehq/sluice/sigma/ast"

// Colours of what wants attention.
const (
	Red    = "\x1b[31m"
	Yellow = "\x1b[33m"
)

// ColorOf is the colour of a level.
func ColorOf(l ast.Level) string {
	switch l {
	case ast.LevelCritical:
		return "\x1b[1;31m"
	case ast.LevelHigh:
		return "\x1b[31m"
	case ast.LevelMedium:
		return "\x1b[33m"
	case ast.LevelLow:
		return "\x1b[36m"
	case ast.LevelInformational:
		return "\x1b[2m"
	}
	return ""
}
