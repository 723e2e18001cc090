package kafka

import (
	"bytes"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/graph"
)

// apart keeps lines from holding memory that is of no use. An answer of a broker is one piece
// of memory, which stays as long as any line in it does, with keys, headers and messages that
// became no line. Where these are more than the lines, the lines are copied.
type apart struct {
	other int // bytes that are no lines, of what came lately
}

const (
	mostOther  = 16 << 20 // that is remembered: about an answer
	pieceBytes = 32 << 10 // lines that are copied share pieces of this size
)

// arrived counts what a message holds.
func (a *apart) arrived(r *kgo.Record) {
	a.other += len(r.Key) + len(r.Value)
	for i := range r.Headers {
		a.other += len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
}

// lines copies the lines that are made of what has arrived, if it is worth that. An answer
// comes in several runs, so what came before them counts until as many bytes of lines have
// come.
func (a *apart) lines(run []graph.Line) {
	size := 0
	for i := range run {
		size += len(run[i].Raw)
	}
	a.other = min(a.other-size, mostOther)
	if a.other > size {
		copyLines(run, size)
	}
	a.other = max(0, a.other-size)
}

// copyLines gives lines of so many bytes memory of their own.
func copyLines(run []graph.Line, size int) {
	var piece []byte
	for i := range run {
		raw := run[i].Raw
		if len(raw) > pieceBytes/4 {
			run[i].Raw = bytes.Clone(raw)
			size -= len(raw)
			continue
		}
		if len(raw) > cap(piece)-len(piece) {
			piece = make([]byte, 0, min(size, pieceBytes))
		}
		from := len(piece)
		piece = append(piece, raw...)
		run[i].Raw = piece[from:len(piece):len(piece)]
		size -= len(raw)
	}
}
