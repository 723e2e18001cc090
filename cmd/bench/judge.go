package main

import (
	"fmt"
	"io/fs"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// batchSize is the number of lines that travel together.
const batchSize = 256

func loadRules(data string) ([]*ast.Rule, error) {
	archive, err := sigmatest.ReadRuleArchive(data)
	if err != nil {
		return nil, err
	}
	sub, err := fs.Sub(archive, "rules")
	if err != nil {
		return nil, err
	}
	c, err := load.FromFS(sub, load.Options{})
	if err != nil {
		return nil, err
	}
	if n := len(c.Rejected); n > 0 {
		return nil, fmt.Errorf("load rules: %d documents rejected, the first: %w", n, c.Problems()[0])
	}
	return c.Rules, nil
}

// judge is one worker with everything it writes to.
type judge struct {
	set     *engine.Set
	worker  *engine.Worker
	events  *engine.Events
	batch   *result.Batch
	out     []byte
	results int
}

// newJudge compiles the rules; routing may be nil.
func newJudge(rules []*ast.Rule, routing *engine.Routing) (*judge, error) {
	set, err := engine.Compile(rules, engine.Options{Routing: routing})
	if err != nil {
		return nil, err
	}
	return &judge{set: set, worker: set.NewWorker(), events: new(engine.Events), batch: new(result.Batch)}, nil
}

// forget makes the judge ready for other lines: what it learned from the last ones
// is gone.
func (j *judge) forget() { j.worker = j.set.NewWorker() }

// run takes lines to result lines, batch by batch. A batch with results is
// given away, as it would be to the next stage.
func (j *judge) run(lines [][]byte) error {
	for len(lines) > 0 {
		n := min(batchSize, len(lines))
		if err := j.step(lines[:n]); err != nil {
			return err
		}
		lines = lines[n:]
	}
	return nil
}

func (j *judge) step(lines [][]byte) error {
	j.events.Reset()
	for _, line := range lines {
		if err := j.worker.DecodeJSON(j.events, line); err != nil {
			return err
		}
	}
	for i := range j.events.Len() {
		j.worker.Evaluate(j.events, i, 0, j.batch)
	}
	if j.batch.Len() == 0 {
		return nil
	}
	j.out = j.out[:0]
	for i := range j.batch.Len() {
		j.out = append(j.batch.At(i).AppendNative(j.out, nil), '\n')
	}
	j.results += j.batch.Len()
	j.batch = new(result.Batch)
	return nil
}

// fired lists the rules that fire on any of the lines.
func (j *judge) fired(lines [][]byte) (map[int]bool, error) {
	out := map[int]bool{}
	for _, line := range lines {
		j.events.Reset()
		if err := j.worker.DecodeJSON(j.events, line); err != nil {
			return nil, err
		}
		j.batch.Truncate(0)
		j.worker.Evaluate(j.events, 0, 0, j.batch)
		for i := range j.batch.Len() {
			out[j.batch.At(i).Rule.Index] = true
		}
	}
	j.batch.Truncate(0)
	return out, nil
}
