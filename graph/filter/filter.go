package filter

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/sluicehq/sluice/graph/extract/jq"
	"github.com/sluicehq/sluice/graph/extract/jsonpath"
	"github.com/sluicehq/sluice/graph/extract/tree"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/event"
)

// The bounds of what a line becomes, beside those of the programs.
const (
	MaxEvents = 1 << 19  // of a line
	MaxBytes  = 16 << 20 // of the events of a line
	MaxEvent  = 1 << 20  // bytes of an event
)

// What ends the filter of a line beside the bounds of the programs.
var (
	ErrEvents = fmt.Errorf("the line becomes more than %d events", MaxEvents)
	ErrBytes  = fmt.Errorf("the line becomes more than %d bytes of events", MaxBytes)
	ErrEvent  = fmt.Errorf("an event is longer than %d bytes", MaxEvent)
)

// Filter turns the values of lines into events. Any number of goroutines may use it.
type Filter struct {
	program *jq.Program
	query   *jsonpath.Query
	idle    chan *run // runs that nobody uses

	ended atomic.Bool // there is a tally that nobody took
	mu    sync.Mutex  // guards tally
	tally Tally
}

// Tally is how many lines were filtered in part only.
type Tally struct {
	Failed  int   // the program had an error
	Failure error // of the last of them; it may show parts of the line
	Cut     int   // the program went beyond its bounds
	Bound   error // of the last of them; it shows nothing of the line
}

// maxIdle is how many runs are kept for later lines.
const maxIdle = 64

// run is a Filter at work.
type run struct {
	program *jq.Run
	query   *jsonpath.Run
	values  [][]byte // of the line
	text    []byte   // of an event
	tally   Tally

	worker      *engine.Worker
	ev          *engine.Events
	size, count int   // of the events of the line
	bound       error // that the line has met
}

// Compile makes the filter of a jq program or a JSONPath query, one of which is empty. It
// is nil when both are.
func Compile(program, query string) (*Filter, error) {
	f := &Filter{idle: make(chan *run, maxIdle)}
	var err error
	switch {
	case program != "" && query != "":
		return nil, errors.New("excludes --jsonpath")
	case program != "":
		f.program, err = jq.Compile(program)
	case query != "":
		f.query, err = jsonpath.Compile(query)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// begin returns a run that nobody else uses.
func (f *Filter) begin(w *engine.Worker, ev *engine.Events, size int) (*run, error) {
	var r *run
	select {
	case r = <-f.idle:
	default:
		r = new(run)
		var err error
		if f.program == nil {
			r.query = f.query.NewRun()
		} else if r.program, err = f.program.NewRun(); err != nil {
			return nil, err
		}
	}
	r.worker, r.ev = w, ev
	r.size, r.count, r.bound = 0, 0, nil
	if r.program != nil {
		r.program.Begin(size)
	} else {
		r.query.Begin(size)
	}
	return r, nil
}

// maxText is how many bytes a run keeps that nobody uses.
const maxText = 64 << 10

// end gives a run back, and counts what it was stopped by.
func (f *Filter) end(r *run) {
	if t := r.tally; t != (Tally{}) {
		f.mu.Lock()
		f.tally.add(t)
		f.mu.Unlock()
		f.ended.Store(true)
	}
	r.worker, r.ev, r.tally = nil, nil, Tally{}
	clear(r.values)
	if r.values = r.values[:0]; cap(r.values)*24 > maxText {
		r.values = nil
	}
	if cap(r.text) > maxText {
		r.text = nil
	}
	select {
	case f.idle <- r:
	default:
	}
}

func (t *Tally) add(more Tally) {
	t.Failed += more.Failed
	t.Cut += more.Cut
	if more.Failure != nil {
		t.Failure = more.Failure
	}
	if more.Bound != nil {
		t.Bound = more.Bound
	}
}

// Take returns the tally since it was taken last.
func (f *Filter) Take() Tally {
	if !f.ended.Load() {
		return Tally{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	t := f.tally
	f.tally = Tally{}
	f.ended.Store(false)
	return t
}

// Value appends the events that the one value of a line becomes. Like the decoding
// without a filter, it fails when the line is not JSON, and appends nothing then.
func (f *Filter) Value(w *engine.Worker, ev *engine.Events, line []byte) error {
	return f.decode(w, ev, line, false, true)
}

// Values appends the events that the values of a line become, each as it stands: a
// top-level array whole. With containers, a value that is neither an object nor an array
// is an error.
func (f *Filter) Values(w *engine.Worker, ev *engine.Events, line []byte, containers bool) error {
	return f.decode(w, ev, line, containers, false)
}

func (f *Filter) decode(w *engine.Worker, ev *engine.Events, line []byte, containers, one bool) error {
	r, err := f.begin(w, ev, len(line))
	if err != nil {
		return err
	}
	defer f.end(r)
	if r.values, err = tree.Split(r.values[:0], line, containers); err != nil {
		return err
	}
	if one && len(r.values) != 1 {
		return tree.ErrSyntax
	}
	for _, v := range r.values {
		if err := r.value(v); err != nil {
			r.tally.Failed, r.tally.Failure = 1, err
		}
		if r.bound != nil {
			r.tally.Cut, r.tally.Bound = 1, r.bound
			break
		}
	}
	return nil
}

// value makes events of a value. What the program did wrong is the error.
func (r *run) value(text []byte) error {
	if r.program == nil {
		if err := r.query.Over(text, r.node); err != nil {
			r.bound = err
		}
		return nil
	}
	v, err := tree.Parse(text)
	if err != nil {
		return err
	}
	switch err = r.program.Over(v, r.output); {
	case err == nil || !jq.Bounded(err):
		return err
	case r.bound == nil:
		r.bound = err
	}
	return nil
}

// output makes an event of an output of the program.
func (r *run) output(v any) bool {
	if v == nil {
		return true
	}
	text, err := tree.Append(r.text[:0], v, MaxEvent)
	if err != nil {
		r.bound = err
		if errors.Is(err, tree.ErrTooLong) {
			r.bound = ErrEvent
		}
		return false
	}
	r.text = text
	return r.admit(len(text)) && r.keep(r.worker.DecodeMade(r.ev, text))
}

// node makes an event of a node of the query, without a copy unless a key repeats in it.
func (r *run) node(v event.Value) bool {
	if v.Type == event.Null {
		return true
	}
	if !r.admit(len(v.Raw)) {
		return false
	}
	if !r.query.Repeated(v) {
		return r.keep(r.worker.DecodeJSON(r.ev, v.Raw))
	}
	made, err := tree.ParseWithin(v.Raw, len(v.Raw))
	if err == nil {
		r.text, err = tree.Append(r.text[:0], made, MaxEvent)
	}
	return r.keep(err) && r.keep(r.worker.DecodeMade(r.ev, r.text))
}

// admit counts an event, and says whether there may be one more.
func (r *run) admit(size int) bool {
	r.count++
	r.size += size
	switch {
	case r.count > MaxEvents:
		r.bound = ErrEvents
	case r.size > MaxBytes:
		r.bound = ErrBytes
	}
	return r.bound == nil
}

// keep ends the line at an error.
func (r *run) keep(err error) bool {
	if err != nil {
		r.bound = err
	}
	return err == nil
}
