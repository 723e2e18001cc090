package actors

import (
	"errors"

	"github.com/sluicehq/sluice/graph"
)

// NameDLQ is the name of the actor that writes dead letters.
const NameDLQ = "dlq"

// Capacities of data lanes, in units.
const (
	MaxCapacity     = 1_000_000
	defaultCapacity = 1024
)

// ErrCapacity is wrapped by the error of a capacity out of bounds.
var ErrCapacity = errors.New("mailbox capacity must be between 1 and 1000000")

// Capacity is the capacity of a stage's data lane: what the operator set for it,
// else the buffer size for the lanes that are the input and the output queue,
// else the default, which a small buffer lowers.
func Capacity(s graph.Stage, bufferSize int, set map[string]int) int {
	if n, ok := set[string(s)]; ok {
		return n
	}
	switch s {
	case graph.StageParse, graph.StageEnrich:
		return bufferSize
	default:
		return min(defaultCapacity, bufferSize)
	}
}
