package graph

import "time"

// Timing is how long a batch was worked on, phase by phase. Each stage fills in
// its own; the last to hold the batch reports all of them.
type Timing struct {
	Taken       time.Time // when the first line was taken from the input queue
	Parse       time.Duration
	DecodeMerge time.Duration
	Observe     time.Duration
	Evaluate    time.Duration // detection; whoever counts the matches adds its own part
}
