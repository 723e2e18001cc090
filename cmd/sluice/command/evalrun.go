package command

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sources"
)

// batchLines is long enough that handing a batch over costs nothing beside
// evaluating it, and short enough that its events are still in the cache then.
const batchLines = 128

// evaluation drives the steps over the lines of a stream: workers decode and
// evaluate batches, and one goroutine correlates and prints them in order.
type evaluation struct {
	set     *graph.RuleSet
	format  *format.Decoder
	timed   bool                   // events without a time of their own do not reach correlations
	render  func(*graph.ResultSet) // makes text, which discard takes back
	discard func()
	write   func(tally) error // writes the text; the tally counts the stream so far
	warn    func(...string)

	correlate *step.Correlate
	isolate   step.Sequential
	total     tally
	truncated int   // firings that were not propagated
	second    int64 // up to which the correlations have been told the time
}

// job is a batch on its way through a worker to the printer.
type job struct {
	batch graph.Batch
	tally tally
	done  chan struct{} // a worker is through with it
}

// tally counts what became of lines.
type tally struct {
	events, undecoded uint64
	matches           uint64 // detections written
	correlations      uint64
	failed            uint64 // lines that made a step panic
	failure           error  // of the last of them
	engine.Stats
}

func (t *tally) add(o *tally) {
	t.events += o.events
	t.undecoded += o.undecoded
	t.matches += o.matches
	t.correlations += o.correlations
	t.failed += o.failed
	if o.failure != nil {
		t.failure = o.failure
	}
	t.Pruned += o.Pruned
	t.WithoutLogsource += o.WithoutLogsource
}

func (t *tally) fail(cause error) { t.failed, t.failure = t.failed+1, cause }

// newEvaluation prepares the evaluation by a rule set. maxGroups is the limit on
// groups of correlations; 0 means the default.
func newEvaluation(set *graph.RuleSet, f *format.Decoder, p *printer, maxGroups int) *evaluation {
	return &evaluation{
		set: set, format: f, render: p.render, discard: p.discard, write: p.write,
		correlate: step.NewCorrelate(correlation.New(step.Program(set), maxGroups)),
	}
}

// run reads src to its end or to the first error. When nobody takes results any
// more it does not wait for src, from which a read may still be under way.
func (e *evaluation) run(src io.Reader) error {
	workers := runtime.GOMAXPROCS(0)
	in := &intake{
		set:  e.set,
		free: make(chan *job, 3*workers), work: make(chan *job, workers),
		order: make(chan *job, 3*workers), // holds every job there is, so the reader never waits for it
	}
	for range 3 * workers {
		in.free <- &job{batch: graph.Batch{Events: new(engine.Events)}, done: make(chan struct{}, 1)}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() { e.worker(in.work) })
	}
	var readErr error
	wait.Go(func() {
		pump := sources.Pump{Intake: in}
		_, readErr = pump.Run(ctx, new(sources.Buffers).NewReader(src))
		close(in.work)
		close(in.order)
	})
	for j := range in.order {
		<-j.done
		if err := e.finish(j); err != nil {
			return err
		}
		in.free <- j
	}
	wait.Wait()
	return readErr
}

// intake gives the lines of the reader to the workers.
type intake struct {
	set               *graph.RuleSet
	free, work, order chan *job
}

// Put implements sources.Intake. What has been read is handed on at once, so that
// a slow input is answered line by line.
func (in *intake) Put(ctx context.Context, run []graph.Line) (admitted int, err error) {
	for admitted < len(run) {
		lines := run[admitted:min(len(run), admitted+batchLines)]
		if err := in.put(ctx, lines, tally{events: uint64(len(lines))}); err != nil {
			return admitted, err
		}
		admitted += len(lines)
	}
	return admitted, nil
}

// Oversize implements sources.Intake.
func (in *intake) Oversize(ctx context.Context, _ []byte, _ graph.Token) error {
	return in.put(ctx, nil, tally{events: 1, undecoded: 1})
}

func (in *intake) put(ctx context.Context, lines []graph.Line, t tally) error {
	select {
	case j := <-in.free:
		j.batch.Set, j.batch.Arrival, j.tally = in.set, time.Now().Unix(), t
		j.batch.Lines = append(j.batch.Lines, lines...)
		in.order <- j
		in.work <- j
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// worker decodes and evaluates batches.
func (e *evaluation) worker(work <-chan *job) {
	decode, detect, isolate := step.NewDecode(e.format), step.NewDetect(e.timed), new(step.Sequential)
	for j := range work {
		decoded := decode.Batch(isolate, &j.batch)
		detected := detect.Batch(isolate, &j.batch)
		j.tally.undecoded += uint64(decoded.Undecodable)
		j.tally.Stats = detected.Stats
		for _, p := range append(decoded.Poisoned, detected.Poisoned...) {
			j.tally.fail(p.Cause)
		}
		j.done <- struct{}{}
	}
}

// finish correlates and prints a batch.
func (e *evaluation) finish(j *job) error {
	b := &j.batch
	if b.Arrival > e.second {
		e.correlate.Engine.Advance(b.Arrival)
		e.second = b.Arrival
	}
	e.correlate.Begin(&e.isolate, b, b.Arrival)
	var used graph.Releaser
	for i := range b.Outcomes {
		if b.Outcomes[i].Kind != graph.Decoded {
			continue
		}
		if err := e.line(b, i, &j.tally, &used); err != nil {
			j.tally.fail(err)
		}
	}
	used.Flush()
	e.correlate.End()
	e.total.add(&j.tally)
	err := e.write(e.total)
	e.correlate.Engine.Release()
	results := b.Results
	b.Reset()
	b.Results = results // nobody else has them
	return err
}

// line correlates and renders line i of b. The error is that of a step.
func (e *evaluation) line(b *graph.Batch, i int, t *tally, used *graph.Releaser) error {
	counted, err := e.correlate.Count(&e.isolate, b, i, b.Arrival)
	for _, o := range counted.Effects {
		e.truncated += o.Truncated
		if o.Evicted > 0 {
			e.warn(fmt.Sprintf("%d groups of correlations, the limit is %d: %d evicted (raise --max-state-entries or shorten windows)",
				o.Before, e.correlate.Engine.MaxGroups(), o.Evicted))
		}
	}
	if err != nil {
		return err
	}
	results := e.correlate.Merge(b, i)
	if results == nil {
		return nil
	}
	defer used.List(results)
	if err := e.isolate.Step(func() { e.render(results) }, e.discard); err != nil {
		return err
	}
	t.correlations += uint64(len(counted.Firings))
	t.matches += uint64(len(results.Results) - len(counted.Firings))
	return nil
}
