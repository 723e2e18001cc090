package step

import (
	"bytes"
	"encoding/json"

	"github.com/sluicehq/sluice/graph"
)

// Native is the form of sinks that take everything as native lines.
type Native struct{}

// Accepts implements graph.Form.
func (Native) Accepts(graph.Payload) bool { return true }

// Append appends the native line of p.
func (Native) Append(dst []byte, p graph.Payload, _ *graph.Message) ([]byte, error) {
	return p.AppendNative(dst), nil
}

// Native implements graph.Form.
func (Native) Native() bool { return true }

// Pretty is Native for readers: results are indented by two spaces. Records stay
// compact.
type Pretty struct{}

// Accepts implements graph.Form.
func (Pretty) Accepts(graph.Payload) bool { return true }

// Append appends the native line of p, indented if p is a result.
func (Pretty) Append(dst []byte, p graph.Payload, _ *graph.Message) ([]byte, error) {
	at := len(dst)
	dst = p.AppendNative(dst)
	if p.Record != nil {
		return dst, nil
	}
	var indented bytes.Buffer
	if json.Indent(&indented, dst[at:], "", "  ") == nil {
		dst = append(dst[:at], indented.Bytes()...)
	}
	return dst, nil
}

// Native implements graph.Form.
func (Pretty) Native() bool { return false }
