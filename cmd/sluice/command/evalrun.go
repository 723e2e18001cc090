package command

import (
	"cmp"
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sources"
)

// batchLines is long enough that handing a batch over costs nothing beside
// evaluating it, and short enough that its events are still in the cache then.
const batchLines = 256

// evaluation drives the steps over the lines of a stream: workers decode, evaluate
// and render batches, and one goroutine correlates and writes them in order.
type evaluation struct {
	set       *graph.RuleSet
	format    *format.Decoder
	timed     bool // events without a time of their own do not reach correlations
	printer   *printer
	render    renderer
	correlate *correlator // nil when there is nothing to correlate
	alerts    *alerting   // nil without an alert pipeline
	isolate   step.Sequential
	total     tally
	origins   *step.Origins
	shapes    *step.Shapes
	warn      func(...string)
}

// enoughResults is how many results there are before it is said where they come from.
const enoughResults = 10

// job is a batch on its way through a worker to the writer.
type job struct {
	batch      graph.Batch
	oversize   uint64 // lines too long for it
	places     []spot
	records    int // of them are of a file of the event log
	decoded    step.Decoded
	detected   step.Detected
	detections detections
	poisoned   []step.Poisoned // lines that could not be rendered
	times      []int64         // by event: the newest so far; for an alert pipeline
	done       chan struct{}   // a worker is through with it
}

// newEvaluation prepares the evaluation by a rule set, with the file of an alert pipeline
// or nil.
func newEvaluation(set *graph.RuleSet, alerts *alert.File, f *format.Decoder, p *printer, o *config.Eval, warn func(...string)) *evaluation {
	e := &evaluation{
		set: set, format: f, timed: o.Correlation.RequireTime(), printer: p, render: p.renderer(), alerts: newAlerting(alerts, p), warn: warn,
		origins: &step.Origins{Least: enoughResults}, shapes: &step.Shapes{Least: 1},
	}
	if p.rows != nil {
		p.rows.origins = newOrigins(set.Engine)
	}
	e.total.format = f.Format
	e.correlate = newCorrelator(set, o, e.render, warn)
	return e
}

// run reads its events to the end or to the first error. When nobody takes results any
// more it does not wait for src, from which a read may still be under way.
func (e *evaluation) run(src sources.Reader) error {
	workers := runtime.GOMAXPROCS(0)
	in := &intake{
		set:  e.set,
		free: make(chan *job, 2*workers), work: make(chan *job, workers),
		order: make(chan *job, 2*workers), // holds every job there is, so the reader never waits for it
	}
	for range 2 * workers {
		in.free <- &job{batch: graph.Batch{Events: new(engine.Events)}, done: make(chan struct{}, 1)}
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	told := make(chan string)
	if in.from, _ = src.(*events); in.from != nil {
		e.total.logs, e.printer.progress.extent = in.from.logs, &in.from.extent
		in.from.tell = func(text string) bool {
			select {
			case told <- text:
				return true
			case <-ctx.Done():
				return false
			}
		}
	}
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() { e.worker(in.work) })
	}
	var readErr error
	wait.Go(func() {
		pump := sources.Pump{Intake: in}
		_, readErr = pump.Run(ctx, src)
		close(in.work)
		close(in.order)
	})
	for {
		select {
		case text := <-told:
			e.unreadable(text)
		case j, more := <-in.order:
			if !more {
				wait.Wait()
				return cmp.Or(readErr, e.endAlerts())
			}
			<-j.done
			if err := e.finish(j); err != nil {
				return err
			}
			in.free <- j
		}
	}
}

// intake gives the lines of the reader to the workers.
type intake struct {
	set               *graph.RuleSet
	from              *events // what they are read from; nil when it does not tell places
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
		j.places = in.from.take(j.places[:0], len(lines)+int(oversize))
		j.records = in.from.records(j.places)
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
	detect.Watch(e.origins, e.shapes)
	detect.TellEvents = e.printer.rows != nil || e.alerts != nil
	var times *engine.Worker
	if e.alerts != nil {
		times = e.set.Engine.NewWorker()
	}
	for j := range work {
		j.decoded = decode.Batch(isolate, &j.batch)
		j.implyWindows()
		j.detected = detect.Batch(isolate, &j.batch)
		if e.alerts != nil { // what is written is not known yet
			j.readTimes(times)
		} else {
			j.detections.begin()
			j.poisoned = j.detections.fill(isolate, &j.batch, e.render)
		}
		j.done <- struct{}{}
	}
}

// finish correlates and writes a batch.
func (e *evaluation) finish(j *job) error {
	b, t := &j.batch, &e.total
	e.findFault(j)
	undecoded := uint64(j.decoded.Undecodable) + j.oversize
	t.records += uint64(j.records)
	t.events += uint64(b.Events.Len()+len(j.decoded.Poisoned)) + undecoded
	t.undecoded += undecoded
	t.suspects += uint64(j.decoded.Suspects)
	t.lines += uint64(len(b.Lines))
	t.empty += uint64(j.decoded.Empty)
	t.fail(j.decoded.Poisoned...)
	t.fail(j.detected.Poisoned...)
	t.fail(j.poisoned...)
	t.Pruned += j.detected.Pruned
	t.WithoutLogsource += j.detected.WithoutLogsource
	if e.correlate != nil {
		e.correlate.begin(b)
	}
	err := e.results(j)
	e.correlate.release()
	results := b.Results
	b.Reset()
	b.Results = results // nobody else has them
	return err
}

// results correlates and writes the results of a batch.
func (e *evaluation) results(j *job) error {
	b, t := &j.batch, &e.total
	if e.alerts != nil {
		return e.alert(j)
	}
	err := e.write(j, 0)
	for err == nil && j.detections.next < len(b.Outcomes) {
		from := j.detections.next
		if long(b, from) {
			err = e.long(b, from)
			j.detections.skip(b)
			continue
		}
		t.fail(j.detections.fill(&e.isolate, b, e.render)...)
		err = e.write(j, from)
	}
	return err
}

// write correlates and writes the rendered lines of a batch from number from on.
func (e *evaluation) write(j *job, from int) error {
	out := &j.detections.page
	if e.correlate != nil {
		out = e.correlate.lines(j, from, &e.total)
	}
	for i := from; i < j.detections.next; i++ {
		if o := &j.batch.Outcomes[i]; o.Kind == graph.Decoded {
			e.total.matches += uint64(o.Results.Len())
		}
	}
	return e.printer.write(out, &e.total)
}
