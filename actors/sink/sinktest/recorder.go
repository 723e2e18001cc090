package sinktest

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/sluicehq/sluice/graph"
)

// Recorder is a transport that keeps what it is given.
type Recorder struct {
	mu    sync.Mutex // guards lines
	lines []string
}

// Write keeps the bodies.
func (r *Recorder) Write(_ context.Context, messages []graph.Message) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range messages {
		r.lines = append(r.lines, string(messages[i].Body))
	}
	return len(messages), nil
}

// Abandon does nothing.
func (r *Recorder) Abandon() {}

// Reopen does nothing.
func (r *Recorder) Reopen() {}

// Close does nothing.
func (r *Recorder) Close() error { return nil }

// Lines are the bodies kept so far.
func (r *Recorder) Lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.lines)
}

// Split returns the lines of a text.
func Split(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
	return lines
}
