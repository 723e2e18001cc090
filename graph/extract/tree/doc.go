// Package tree reads JSON text into plain Go values and writes them back.
//
// A value is nil, a bool, a json.Number spelled as received, a float64 for a number of more
// digits than there may be, a string, a []any or a map[string]any. Of several members with one key the last counts. What the package
// takes for JSON is what the engine takes for it.
package tree
