package sink

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/sluicehq/sluice/actors/sink/file"
	"github.com/sluicehq/sluice/actors/sink/stdout"
	"github.com/sluicehq/sluice/graph"
)

// Open opens the destination of s. All specs that name standard output write to
// out, which keeps their lines apart; now is the clock.
func Open(s Spec, out *stdout.Stream, now func() time.Time) (Transport, error) {
	switch s.Kind {
	case KindStdout:
		return stdout.New(out), nil
	case KindFile:
		return file.Open(s.Target, now)
	}
	return nil, unsupported(s.Text)
}

// whole reports whether a sink of kind k writes its batches as a unit.
func whole(k Kind) bool { return k == KindFile || k == KindNATS || k == KindOTLP }

// native gives the lines of an item as they are.
func native(i *graph.Item) [][]byte { return i.Lines }

// pretty indents the results of an item. Records stay compact.
func pretty(i *graph.Item) [][]byte {
	if i.Record != nil {
		return i.Lines
	}
	lines := make([][]byte, len(i.Lines))
	for n, line := range i.Lines {
		var b bytes.Buffer
		if err := json.Indent(&b, trimLF(line), "", "  "); err != nil {
			lines[n] = line
			continue
		}
		b.WriteByte('\n')
		lines[n] = b.Bytes()
	}
	return lines
}
