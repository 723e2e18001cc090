package command

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
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
	timed   bool // events without a time of their own do not reach correlations
	printer *printer
	render  func(*graph.ResultSet) // the printer's
	warn    func(...string)

	correlate *step.Correlate
	isolate   step.Sequential
	total     tally
	truncated int   // firings that were not propagated
	dumps     bool  // the state is shown at the end
	second    int64 // up to which the correlations have been told the time
}

// job is a batch on its way through a worker to the printer.
type job struct {
	batch    graph.Batch
	oversize uint64 // lines too long for it
	decoded  step.Decoded
	detected step.Detected
	done     chan struct{} // a worker is through with it
}

// newEvaluation prepares the evaluation by a rule set.
func newEvaluation(set *graph.RuleSet, f *format.Decoder, p *printer, o *config.Eval, warn func(...string)) *evaluation {
	e := &evaluation{
		set: set, format: f, timed: o.Correlation.RequireTime(), printer: p, render: p.render, warn: warn,
		correlate: step.NewCorrelate(correlation.New(step.Program(set), o.Correlation.MaxStateEntries)), dumps: o.DumpCorrelationState,
	}
	if e.dumps && (!set.Correlates() || o.Schema.Routing) {
		warn("--dump-correlation-state is ignored: there is no correlation to show")
		e.dumps = false
	}
	return e
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
	for admitted < len(run) && err == nil {
		n := min(len(run)-admitted, batchLines)
		if err = in.put(ctx, run[admitted:admitted+n], 0); err == nil {
			admitted += n
		}
	}
	return admitted, err
}

// Oversize implements sources.Intake.
func (in *intake) Oversize(ctx context.Context, _ []byte, _ graph.Token) error {
	return in.put(ctx, nil, 1)
}

func (in *intake) put(ctx context.Context, lines []graph.Line, oversize uint64) error {
	select {
	case j := <-in.free:
		j.batch.Set, j.batch.Arrival, j.oversize = in.set, time.Now().Unix(), oversize
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
		j.decoded = decode.Batch(isolate, &j.batch)
		j.detected = detect.Batch(isolate, &j.batch)
		j.done <- struct{}{}
	}
}

// finish correlates and prints a batch.
func (e *evaluation) finish(j *job) error {
	b, t := &j.batch, &e.total
	t.events += uint64(len(b.Lines)) + j.oversize
	t.undecoded += uint64(j.decoded.Undecodable) + j.oversize
	t.fail(j.decoded.Poisoned...)
	t.fail(j.detected.Poisoned...)
	t.Pruned += j.detected.Pruned
	t.WithoutLogsource += j.detected.WithoutLogsource
	if b.Arrival > e.second {
		e.correlate.Engine.Advance(b.Arrival)
		e.second = b.Arrival
	}
	e.correlate.Begin(&e.isolate, b, b.Arrival)
	var used graph.Releaser
	var err error
	for i := range b.Outcomes {
		if b.Outcomes[i].Kind != graph.Decoded {
			continue
		}
		if err := e.line(b, i, &used); err != nil {
			t.fail(step.Poisoned{Line: i, Cause: err})
		}
		if err == nil && e.printer.full() {
			err = e.printer.write(t)
		}
	}
	used.Flush()
	e.correlate.End()
	if err == nil {
		err = e.printer.write(t)
	}
	e.correlate.Engine.Release()
	results := b.Results
	b.Reset()
	b.Results = results // nobody else has them
	return err
}

// line correlates and renders line i of b. The error is that of a step.
func (e *evaluation) line(b *graph.Batch, i int, used *graph.Releaser) error {
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
	fired, found := len(counted.Firings), len(results.Results)
	if err = e.isolate.Step(func() { e.render(results) }, e.printer.discard); err == nil {
		e.total.firings += uint64(fired)
		e.total.matches += uint64(found - fired)
	}
	used.List(results)
	return err
}
