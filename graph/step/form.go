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

// Pretty is a form for readers: results are indented by two spaces. Records stay
// compact. The zero value indents native lines.
type Pretty struct{ Of graph.Form }

func (f Pretty) of() graph.Form {
	if f.Of == nil {
		return Native{}
	}
	return f.Of
}

// Accepts implements graph.Form.
func (f Pretty) Accepts(p graph.Payload) bool { return f.of().Accepts(p) }

// Append appends what the form writes of p, indented if p is a result.
func (f Pretty) Append(dst []byte, p graph.Payload, m *graph.Message) ([]byte, error) {
	at := len(dst)
	dst, err := f.of().Append(dst, p, m)
	if err != nil || p.Record != nil {
		return dst, err
	}
	var indented bytes.Buffer
	if json.Indent(&indented, dst[at:], "", "  ") == nil {
		dst = append(dst[:at], indented.Bytes()...)
	}
	return dst, nil
}

// Native implements graph.Form.
func (Pretty) Native() bool { return false }
