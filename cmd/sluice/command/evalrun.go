package command

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/result"
	"github.com/sluicehq/sluice/sources"
)

// A chunk is long enough that handing it over costs nothing beside judging it,
// and short enough that the first results appear at once.
const (
	chunkLines = 512
	chunkBytes = 256 << 10
)

// chunk is a run of lines on its way from the reader to the writer. It comes
// back to the reader for the next run.
type chunk struct {
	lines   []sources.Text
	arrival int64
	done    chan struct{} // a worker is through with it

	rendered // detections
	found    matches
	tally    tally
}

// tally counts what became of lines.
type tally struct {
	events, undecoded uint64
	matches           uint64 // detections written
	correlations      uint64
	failed            uint64 // lines that made the engine panic
	failure           string // the last of them
	engine.Stats
}

func (t *tally) add(o tally) {
	t.events += o.events
	t.undecoded += o.undecoded
	t.matches += o.matches
	t.correlations += o.correlations
	t.failed += o.failed
	if o.failure != "" {
		t.failure = o.failure
	}
	t.Pruned += o.Pruned
	t.WithoutLogsource += o.WithoutLogsource
}

// fail counts a line that was given up because of the panic p.
func (t *tally) fail(p any) {
	t.failed++
	t.failure = fmt.Sprintf("panic: %v", p)
}

// run judges lines in parallel and writes results in the order of their events.
type run struct {
	set       *engine.Set
	decoder   *format.Decoder
	renderer  renderer
	correlate *correlator // nil without correlations
	write     func(*chunk) error
}

// judging is what one worker judges with.
type judging struct {
	*run
	worker  *engine.Worker
	events  engine.Events
	batch   result.Batch
	extract *extractor // nil without correlations
}

func (r *run) newJudging() *judging {
	j := &judging{run: r, worker: r.set.NewWorker()}
	if r.correlate != nil {
		j.extract = newExtractor(r.correlate.plan, r.set, r.correlate.skip)
	}
	return j
}

// judge reads src to its end. It returns what was counted up to the end or to
// the first error. When nobody takes results any more it does not wait for src,
// from which a read may still be under way.
func (r *run) judge(src io.Reader) (tally, error) {
	workers := runtime.GOMAXPROCS(0)
	var (
		free  = make(chan *chunk, 3*workers)
		work  = make(chan *chunk, workers)
		order = make(chan *chunk, 3*workers) // holds every chunk there is, so the reader never waits for it
		stop  = make(chan struct{})
		wait  sync.WaitGroup
	)
	defer close(stop)
	for range 3 * workers {
		free <- r.newChunk()
	}
	for range workers {
		wait.Go(func() {
			j := r.newJudging()
			for c := range work {
				j.chunk(c)
				c.done <- struct{}{}
			}
		})
	}
	var readErr error
	wait.Go(func() {
		readErr = read(src, free, stop, func(c *chunk) {
			order <- c
			work <- c
		})
		close(work)
		close(order)
	})
	var total tally
	for c := range order {
		<-c.done
		if r.correlate != nil {
			r.correlate.chunk(c)
		}
		total.add(c.tally)
		if err := r.write(c); err != nil {
			return total, err
		}
		free <- c
	}
	wait.Wait()
	return total, readErr
}

// newChunk returns a chunk with the memory most of them need, so that none grows
// there step by step.
func (r *run) newChunk() *chunk {
	c := &chunk{done: make(chan struct{}, 1)}
	c.out = make([]byte, 0, chunkBytes)
	if r.correlate != nil {
		c.found.text = make([]byte, 0, chunkBytes/2)
		c.found.records, c.found.lines = make([]record, 0, chunkLines), make([]found, 0, chunkLines)
	}
	return c
}

// read cuts src into chunks, until it ends or stop is closed. What has been read
// is handed on at once, so that a slow input is answered line by line.
func read(src io.Reader, free <-chan *chunk, stop <-chan struct{}, put func(*chunk)) error {
	lines := sources.NewLineReader(src)
	var pending []sources.Text
	for {
		var err error
		pending, err = lines.Next(pending[:0])
		for rest := pending; len(rest) > 0; {
			n := portion(rest)
			var c *chunk
			select {
			case c = <-free:
			case <-stop:
				return nil
			}
			c.lines = append(c.lines[:0], rest[:n]...)
			c.arrival = time.Now().Unix()
			put(c)
			rest = rest[n:]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read events: %w", err)
		}
	}
}

// portion is how many of the lines make one chunk.
func portion(lines []sources.Text) int {
	size := 0
	for i, l := range lines {
		if size += len(l.Bytes); i == chunkLines-1 || size >= chunkBytes {
			return i + 1
		}
	}
	return len(lines)
}

// chunk decodes, judges and renders.
func (j *judging) chunk(c *chunk) {
	c.reset()
	c.found.reset()
	c.tally = tally{}
	for next := 0; next < len(c.lines); {
		next = j.from(next, c)
	}
	c.tally.Stats = j.worker.TakeStats()
}

// from judges the lines from number first on and returns the number of the next
// one to judge. Each line is done with before the next one begins, while it is
// still in the cache. A line that makes the engine panic ends the call: it is
// counted, and nothing of it is written.
func (j *judging) from(first int, c *chunk) (next int) {
	at, records := c.end(), len(c.found.records)
	defer func() {
		if p := recover(); p != nil {
			c.truncate(at)
			c.found.truncate(records)
			c.tally.fail(p)
			next++
		}
	}()
	for next = first; next < len(c.lines); next++ {
		at, records = c.end(), len(c.found.records)
		c.tally.events++
		if j.decode(&c.lines[next], c.arrival) != nil {
			c.tally.undecoded++
			continue
		}
		written := j.line(c)
		if len(c.found.records) > records {
			c.found.line(at, c.end(), written)
		}
		c.tally.matches += written
	}
	return next
}

func (j *judging) decode(l *sources.Text, arrival int64) error {
	j.events.Reset()
	if l.Oversize {
		return errOversize
	}
	return j.decoder.Decode(j.worker, &j.events, l.Bytes, arrival)
}

var errOversize = errors.New("line too long")

// line judges the events of one line and returns the number of detections
// rendered.
func (j *judging) line(c *chunk) (written uint64) {
	j.batch.Truncate(0)
	for i := range j.events.Len() {
		from := j.batch.Len()
		j.worker.Evaluate(&j.events, i, c.arrival, &j.batch)
		for k := from; k < j.batch.Len(); k++ {
			d := j.batch.At(k)
			if j.extract != nil && !j.extract.plan.Emits(d.Rule.Index) {
				continue
			}
			j.renderer.detection(&c.rendered, d)
			written++
		}
		if j.extract != nil && j.batch.Len() > from {
			j.extract.event(j, i, from, c)
		}
	}
	return written
}
