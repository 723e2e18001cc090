package step_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/step"
)

func TestResultSetsCountTheBufferTheyKeep(t *testing.T) {
	const padding = 10_000
	set, g := ruleSet(t, whoami), new(step.Sequential)
	for _, tc := range []struct {
		name        string
		lines       int // that match, of 12
		least, most int
	}{
		{"all lines match: their own size", 12, 12 * padding, 13*padding + 16<<10},
		{"half of them: the whole buffer", 6, 12 * padding, 14*padding + 16<<10},
		{"a quarter", 3, 12 * padding, 14*padding + 16<<10},
		{"one: a copy of its line", 1, padding, padding + 16<<10},
	} {
		var texts []string
		for i := range 12 {
			command := "nobody"
			if i < tc.lines {
				command = "whoami"
			}
			texts = append(texts, `{"CommandLine":"`+command+`","padding":"`+strings.Repeat("x", padding)+`"}`)
		}
		b := detected(set, texts...)
		size := 0
		for i := range b.Lines {
			size += len(b.Lines[i].Raw)
		}
		buffer := graph.NewBuffer(make([]byte, 0, size), func(*graph.Buffer) {})
		for i := range b.Lines {
			line := &b.Lines[i]
			at := len(buffer.Bytes)
			buffer.Bytes = append(buffer.Bytes, line.Raw...)
			line.Raw, line.Buffer = buffer.Bytes[at:], buffer
			buffer.Retain(1)
		}
		c := newCorrelate(set, 0)
		c.Begin(g, b, 0)
		bytes := 0
		for i := range b.Lines {
			if s := c.Merge(b, i); s != nil {
				_, n := graph.SizeOfResultSet(s)
				bytes += n
			}
		}
		c.End()
		if bytes < tc.least || bytes > tc.most {
			t.Errorf("%s: the sets count %d bytes, want between %d and %d", tc.name, bytes, tc.least, tc.most)
		}
	}
}
