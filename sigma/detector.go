package sigma

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/pipeline"
	"github.com/sluicehq/sluice/sigma/result"
)

// Detector evaluates events, one after the other. It belongs to one goroutine.
type Detector struct {
	rules        *load.Collection
	worker       *engine.Worker
	events       engine.Events
	extractor    *correlation.Extractor
	source       *correlation.EventSource
	correlations *correlation.Engine
	second       int64 // up to which the correlations have advanced
	lines        int   // since the worker gave memory back
}

// restEvery is after how many lines memory goes that only uncommon events need.
const restEvery = 256

// Found is what the rules say of one event. It stays valid.
type Found struct {
	Detections   []*result.Detection   // in the order of the rules
	Correlations []*correlation.Result // in the order in which they fired
}

// Option changes how Open reads and compiles rules.
type Option func(*options)

type options struct {
	pipelines    []string
	engine       engine.Options
	correlations correlation.Options
}

// WithPipelines rewrites rules by built-in pipelines and pipeline files.
func WithPipelines(names ...string) Option {
	return func(o *options) { o.pipelines = append(o.pipelines, names...) }
}

// WithEngine sets the options of the engine, such as the detail of results.
func WithEngine(e engine.Options) Option { return func(o *options) { o.engine = e } }

// WithCorrelation sets the options of correlation rules that state none of their own.
func WithCorrelation(c correlation.Options) Option {
	return func(o *options) { o.correlations = c }
}

// Open reads the rules of a file system: all files that end in .yml or .yaml. Faulty
// documents do not stop it, Rules tells which they are; it is an error when no
// document is usable.
func Open(fsys fs.FS, list ...Option) (*Detector, error) {
	var o options
	for _, set := range list {
		set(&o)
	}
	pipelines, err := pipeline.Load(o.pipelines)
	if err != nil {
		return nil, fmt.Errorf("load pipeline: %w", err)
	}
	rules, err := load.FromFS(fsys, load.Options{
		Transform: pipelines.Apply, TransformCorrelation: pipelines.ApplyCorrelation,
	})
	if err != nil {
		return nil, err
	}
	var program *correlation.Program
	var set *engine.Set
	fields := o.engine.Fields
	rules, err = rules.Compiled(func(c *load.Collection) error {
		var err error
		if program, err = correlation.Compile(c.Correlations, c.Rules, o.correlations); err != nil {
			return err
		}
		o.engine.Fields = slices.Concat(fields, program.Spec().Fields)
		set, err = engine.Compile(c.Rules, o.engine)
		return err
	})
	if err != nil {
		return nil, err
	}
	if !rules.Usable() {
		faults := []error{errors.New("no usable rules")}
		for _, p := range rules.Problems() {
			faults = append(faults, p)
		}
		return nil, errors.Join(faults...)
	}
	return &Detector{
		rules: rules, worker: set.NewWorker(), correlations: correlation.New(program, correlation.Limits{}),
		extractor: correlation.NewExtractor(program), source: correlation.NewEventSource(program, set),
	}, nil
}

// Rules returns the rules in use, and the documents that were rejected and why.
func (d *Detector) Rules() *load.Collection { return d.rules }

// Detect evaluates one event, which is a line of JSON. Now is the wall time: events
// without a time of their own happened then, and correlations forget idle groups by
// it. The error says that the line is not JSON.
func (d *Detector) Detect(line []byte, now time.Time) (Found, error) {
	if d.lines++; d.lines == restEvery {
		d.lines = 0
		d.worker.Rest()
	}
	d.events.Reset()
	if err := d.worker.DecodeJSON(&d.events, line); err != nil {
		return Found{}, err
	}
	var batch result.Batch
	var found Found
	var met []int
	d.worker.Evaluate(&d.events, 0, now.Unix(), &batch)
	for i := range batch.Len() {
		found.Detections = append(found.Detections, batch.At(i))
		met = append(met, batch.At(i).Rule.Index)
	}
	if second := now.Unix(); second > d.second {
		d.correlations.Advance(second)
		d.second = second
	}
	at, ok := d.worker.Time(&d.events, 0)
	if !ok {
		at = now.Unix()
	}
	d.source.Open(d.worker, &d.events, 0)
	record := d.extractor.Append(nil, met, at, d.source)
	if len(record) == 0 {
		return found, nil
	}
	var err error
	found.Correlations, _, err = d.correlations.Process(record, now.Unix(), now.Unix(), nil)
	return found, err
}
