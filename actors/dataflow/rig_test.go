package dataflow_test

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/alert"
	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/actors/dataflow"
	"github.com/sluicehq/sluice/actors/dispatch"
	"github.com/sluicehq/sluice/actors/evaluate"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/actors/parse"
	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// settings of a rig. The zero value has defaults.
type settings struct {
	rules       string // YAML documents
	set         *engine.Set
	plan        correlation.Options // of the correlations among rules
	timed       bool                // events without a time of their own do not reach correlations
	format      format.Format
	buffer      int // units of every lane
	bytes       int
	batch       int
	workers     int
	sinks       []sinkSettings
	dlq         bool
	deadLetters sink.Transport // of the dead letter queue, a recorder unless set
	dlqSize     int
	unspawned   bool // leaves the stages out until spawn, so that the input queue fills
	tamper      func(*graph.Batch)
	alert       alert.Options
}

type sinkSettings struct {
	transport sink.Transport
	drop      bool
	capacity  int
	batch     int       // items taken at a time, 0 for one
	kind      sink.Kind // stdout unless set
}

// rig is the dataflow with its sinks.
type rig struct {
	*dataflow.Dataflow
	tb          testing.TB
	system      *actors.System
	registry    *prometheus.Registry
	sinks       []*sink.Sink
	out         *sinktest.Recorder // of the default sink
	deadLetters *sinktest.Recorder
	log         *actorstest.Log
	spawn       func()
}

func compile(tb testing.TB, rules string) *engine.Set {
	tb.Helper()
	return ruleSet(tb, 0, rules, correlation.Options{}).Engine
}

// ruleSet compiles detections and correlations.
func ruleSet(tb testing.TB, generation uint64, rules string, o correlation.Options) *graph.RuleSet {
	tb.Helper()
	c := load.FromBytes("rules.yml", []byte(rules), load.Options{})
	if len(c.Rejected) > 0 {
		tb.Fatalf("rejected: %v", c.Rejected)
	}
	set, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	p, err := correlation.Compile(c.Correlations, c.Rules, o)
	if err != nil {
		tb.Fatal(err)
	}
	return &graph.RuleSet{Generation: generation, Engine: set, Correlation: p}
}

// ruleNamed is a rule that matches events whose field a has the given value.
func ruleNamed(title, value string) string {
	return fmt.Sprintf("title: %s\nlevel: high\nlogsource: {product: test}\ndetection:\n  s: {a: %s}\n  condition: s\n---\n", title, value)
}

func assemble(tb testing.TB, o settings) *rig {
	tb.Helper()
	l := &rig{
		tb: tb, registry: prometheus.NewRegistry(), out: &sinktest.Recorder{}, deadLetters: &sinktest.Recorder{}, log: &actorstest.Log{},
	}
	set := &graph.RuleSet{Generation: 1, Engine: o.set}
	if o.set == nil {
		set = ruleSet(tb, 1, o.rules, o.plan)
	}
	if o.buffer == 0 {
		o.buffer = 10_000
	}
	if o.batch == 0 {
		o.batch = 128
	}
	if o.sinks == nil {
		o.sinks = []sinkSettings{{transport: l.out}}
	}
	reg := prometheus.WrapRegistererWithPrefix("svc_", l.registry)
	log := slog.New(slog.DiscardHandler)
	if _, ok := tb.(*testing.T); ok {
		log = l.log.Logger()
	}
	if o.deadLetters == nil {
		o.deadLetters = l.deadLetters
	}
	must := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	l.system = actorstest.System(tb, actors.Options{Log: log, MaxRestarts: 10})
	start := func(c *mailbox.Cell, produce func(actors.RestartState) actor.Actor) {
		tb.Helper()
		_, err := l.system.Spawn(c, produce)
		must(err)
	}
	must(reg.Register(actors.NewCollector(l.system)))

	sinkMetrics, err := sink.NewMetrics(reg)
	must(err)
	var dlq *sink.DLQ
	var deadLetters actors.DeadLetters
	var sinkLetters sink.DeadLetters
	if o.dlq {
		dlq = sink.NewDLQ(sink.DLQOptions{
			Kind: sink.KindFile, Transport: o.deadLetters, Retry: sink.DefaultRetry(), BatchMax: 64, Capacity: cmp.Or(o.dlqSize, o.buffer), Metrics: sinkMetrics, Log: log,
		})
		deadLetters, sinkLetters = dlq.Lane(), dlq.Lane()
	}
	var outlets []dispatch.Sink
	specs := make([]sink.Spec, len(o.sinks))
	for i := range specs {
		specs[i].Kind = cmp.Or(o.sinks[i].kind, sink.KindStdout)
	}
	for i, label := range sink.Labels(specs) {
		cfg := o.sinks[i]
		policy := sink.Block
		if cfg.drop {
			policy = sink.Drop
		}
		if cfg.capacity == 0 {
			cfg.capacity = o.buffer
		}
		s, err := sink.New(sink.Options{
			Label: label, Kind: specs[i].Kind, OnFull: policy, Form: specs[i].Form(sink.Environment{}), Transport: cfg.transport, Retry: sink.DefaultRetry(),
			BatchMax: max(1, cfg.batch), Capacity: cfg.capacity, Bytes: o.bytes, DeadLetters: sinkLetters, Metrics: sinkMetrics, Log: log,
		})
		must(err)
		l.sinks = append(l.sinks, s)
		out := dispatch.Sink{Label: label, Form: s.Form(), To: s.Lane(), AtOnce: s.AtOnce()}
		if cfg.drop {
			out.Dropped = s.Dropped
		}
		outlets = append(outlets, out)
	}

	metrics, err := dataflow.NewMetrics(reg, o.timed)
	must(err)
	options := dataflow.Options{
		BufferSize: o.buffer, Bytes: o.bytes, DeadLetters: deadLetters, Set: set, Metrics: metrics,
		Parse:     parse.Options{BatchSize: o.batch, Workers: o.workers, Inputs: []parse.Input{{Decoder: &format.Decoder{Format: o.format}}}, Log: log},
		Evaluate:  evaluate.Options{Workers: o.workers, Timed: o.timed},
		Correlate: correlate.Options{Log: log},
		Alert:     o.alert,
		Dispatch:  dispatch.Options{Sinks: outlets},
	}
	var behind *dataflow.Dataflow
	if o.tamper != nil { // between observe and evaluate
		options.Stages = graph.Stages()[2:]
		behind = dataflow.New(options)
		options.Stages, options.Batches = graph.Stages()[:2], tampering{behind.Evaluate.Lane(), o.tamper}
	}
	l.Dataflow = dataflow.New(options)

	if dlq != nil {
		start(dlq.Cell(), dlq.Produce)
	}
	for _, s := range l.sinks {
		start(s.Cell(), s.Produce)
	}
	if behind != nil {
		must(behind.Spawn(l.system))
	}
	l.spawn = func() { must(l.Spawn(l.system)) }
	if !o.unspawned {
		l.spawn()
	}
	return l
}

// tampering changes batches on their way.
type tampering struct {
	mailbox.Outlet[*graph.Batch]
	change func(*graph.Batch)
}

func (t tampering) TryPut(run []*graph.Batch) int {
	for _, b := range run {
		t.change(b)
	}
	return t.Outlet.TryPut(run)
}

// tally counts how often each line was settled.
type tally struct {
	mu       sync.Mutex // guards settled
	settled  []int
	receipts []*graph.Receipt
}

// lines makes lines whose settlements are counted, each with a receipt of its own.
func (s *tally) lines(texts ...string) []graph.Line {
	run := make([]graph.Line, len(texts))
	for i, text := range texts {
		n := len(s.receipts)
		s.settled = append(s.settled, 0)
		r := graph.NewReceipt(1, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.settled[n]++
		})
		s.receipts = append(s.receipts, r)
		run[i] = graph.Line{Raw: []byte(text), Token: r.Token(0)}
	}
	return run
}

// want checks that exactly the lines for which is holds were settled, once.
func (s *tally) want(t *testing.T, is func(i int) bool) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, n := range s.settled {
		want := 0
		if is(i) {
			want = 1
		}
		if n != want || s.receipts[i].Overdrawn() != 0 {
			t.Errorf("line %d was settled %d times (%d beyond its shares), want %d", i, n, s.receipts[i].Overdrawn(), want)
		}
	}
}

func all(int) bool { return true }

// put hands lines in.
func (l *rig) put(run []graph.Line) {
	l.tb.Helper()
	if n, err := l.Parse.Intake("test", time.Now).Put(context.Background(), run); n != len(run) || err != nil {
		l.tb.Fatalf("put: %d of %d lines admitted, %v", n, len(run), err)
	}
}

// metric is the value of a series, or the count of a histogram.
func (l *rig) metric(name string, labels ...string) float64 {
	l.tb.Helper()
	v, _ := l.series(name, labels...)
	return v
}

func (l *rig) series(name string, labels ...string) (value float64, sum float64) {
	l.tb.Helper()
	families, err := l.registry.Gather()
	if err != nil {
		l.tb.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() != "svc_"+name {
			continue
		}
		for _, m := range f.GetMetric() {
			if !labelled(m, labels) {
				continue
			}
			switch {
			case m.GetCounter() != nil:
				return m.GetCounter().GetValue(), 0
			case m.GetGauge() != nil:
				return m.GetGauge().GetValue(), 0
			default:
				return float64(m.GetHistogram().GetSampleCount()), m.GetHistogram().GetSampleSum()
			}
		}
	}
	return -1, -1
}

func labelled(m *dto.Metric, labels []string) bool {
	for _, want := range labels {
		found := false
		for _, p := range m.GetLabel() {
			found = found || p.GetName()+"="+p.GetValue() == want
		}
		if !found {
			return false
		}
	}
	return true
}

// wantMetrics compares series, written name or name{label=value,...}, with values.
func (l *rig) wantMetrics(want map[string]float64) {
	l.tb.Helper()
	for series, v := range want {
		name, rest, _ := strings.Cut(strings.TrimSuffix(series, "}"), "{")
		var labels []string
		if rest != "" {
			labels = strings.Split(rest, ",")
		}
		if got := l.metric(name, labels...); got != v {
			l.tb.Errorf("%s is %g, want %g", series, got, v)
		}
	}
}

// stuck is a transport that takes nothing until it is let go.
type stuck struct {
	sinktest.Recorder
	open chan struct{}
}

func newStuck() *stuck { return &stuck{open: make(chan struct{})} }

func (s *stuck) Write(ctx context.Context, messages []graph.Message) (int, error) {
	select {
	case <-s.open:
		return s.Recorder.Write(ctx, messages)
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}
