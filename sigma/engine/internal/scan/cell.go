package scan

import "github.com/sluicehq/sluice/sigma/event"

// Cell is one value of interest. Start and End delimit it in the document,
// quotes included.
type Cell struct {
	Start, End uint32
	Field      uint32 // 0 when only keywords ask for the value
	Rank       uint16 // which of the field's ways the value was found by
	Type       event.Type
	Flags      Flags
}

// Flags say what a cell is for.
type Flags uint8

// The flags of a cell.
const (
	// Terminal: the value, or one of the values, that the field resolves to. An
	// array is one terminal; its elements follow as cells of their own.
	Terminal Flags = 1 << iota
	// Keyword: a string that keyword searches look at.
	Keyword
	// Escaped: a string with escape sequences.
	Escaped
	// High: a string with bytes outside ASCII.
	High
	// Shared: the field may be found in several ways, the lowest rank wins.
	Shared
	// Verbatim: text without quotes and escapes (event.Text).
	Verbatim
)

// Value returns the cell's piece of its document.
func (c *Cell) Value(doc []byte) event.Value {
	return event.Value{Type: c.Type, Raw: doc[c.Start:c.End]}
}
