package jetstream

import (
	"strings"
	"time"

	"github.com/sluicehq/sluice/graph"
)

// ackPrefix begins the reply subject of a message that a consumer has delivered.
const ackPrefix = "$JS.ACK."

// placeOf reads where a message stands from its reply subject: $JS.ACK, perhaps domain
// and account, stream, consumer, deliveries, stream sequence, consumer sequence, time and
// what is pending. It is false for what no consumer has delivered.
func placeOf(reply string) (graph.Position, bool) {
	rest, ok := strings.CutPrefix(reply, ackPrefix)
	if !ok {
		return graph.Position{}, false
	}
	skip := 3 // to the stream sequence
	if strings.Count(rest, ".") > 6 {
		skip = 5
	}
	for range skip {
		_, rest, _ = strings.Cut(rest, ".")
	}
	sequence, rest, _ := strings.Cut(rest, ".")
	_, rest, _ = strings.Cut(rest, ".")
	at, _, _ := strings.Cut(rest, ".")
	n, valid := number(sequence)
	ns, dated := number(at)
	return graph.Position{Sequence: n, Time: int64(ns / uint64(time.Second))}, valid && dated && n > 0
}

// number reads a decimal number.
func number(text string) (n uint64, ok bool) {
	if text == "" || len(text) > 19 {
		return 0, false
	}
	for i := range len(text) {
		digit := text[i] - '0'
		if digit > 9 {
			return 0, false
		}
		n = 10*n + uint64(digit)
	}
	return n, true
}
