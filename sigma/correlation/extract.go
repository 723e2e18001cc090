package correlation

import (
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/engine"
)

// Extractor writes the record of an event: what the correlations need to know of it.
// It belongs to one goroutine.
type Extractor = match.Extractor

// Source is an event that records are made of.
type Source = match.Source

// EventSource is a Source over the events that a worker of an engine has decoded.
type EventSource = match.Event

// Record is a record that has been opened.
type Record = match.Record

// NewExtractor returns an extractor of records for p.
func NewExtractor(p *Program) *Extractor { return match.NewExtractor(p.Spec()) }

// NewEventSource returns a source of records for p, over events of workers of set.
func NewEventSource(p *Program, set *engine.Set) *EventSource { return match.NewEvent(p.Spec(), set) }
