package alert

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/result"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// rig is a real stage between recorders.
type rig struct {
	*Stage
	tb          testing.TB
	system      *actors.System
	registry    *prometheus.Registry
	client      *Client
	next        *actorstest.Recorder[*graph.ResultSet]
	deadLetters *actorstest.Recorder[graph.DeadLetter]
	log         actorstest.Log
	settled     []int
}

// parse reads the file of a pipeline.
func parse(tb testing.TB, text string) *alert.File {
	tb.Helper()
	f, _, faults := alert.Parse([]byte(text))
	if len(faults) > 0 {
		tb.Fatalf("%s: %v", text, faults)
	}
	return f
}

// newRig spawns a stage with the file of a pipeline; an empty text is none.
func newRig(tb testing.TB, text string, change ...func(*Options)) *rig {
	tb.Helper()
	r := &rig{
		tb: tb, registry: prometheus.NewRegistry(),
		next: actorstest.NewRecorder[*graph.ResultSet](), deadLetters: actorstest.NewRecorder[graph.DeadLetter](),
	}
	m, err := NewMetrics(r.registry)
	if err != nil {
		tb.Fatal(err)
	}
	o := Options{
		StageOptions: actors.StageOptions{Capacity: 10_000, DeadLetters: r.deadLetters},
		Next:         r.next, Metrics: m, Log: r.log.Logger(),
	}
	if text != "" {
		o.File = &File{serving: parse(tb, text), log: o.Log}
	}
	for _, c := range change {
		c(&o)
	}
	r.Stage = New(o)
	r.client = r.Client()
	r.system = actorstest.System(tb, actors.Options{Log: o.Log, MaxRestarts: 10})
	tb.Cleanup(func() { _ = r.rows.close() })
	return r
}

func (r *rig) spawn() *rig {
	r.tb.Helper()
	return r.spawnAs(func(a *shell) actor.Actor { return a })
}

// spawnAs spawns the actor as something else.
func (r *rig) spawnAs(as func(*shell) actor.Actor) *rig {
	r.tb.Helper()
	produce := func(h actors.RestartState) actor.Actor { return as(r.Produce(h).(*shell)) }
	if _, err := r.system.Spawn(r.Cell(), produce); err != nil {
		r.tb.Fatal(err)
	}
	return r
}

var (
	levels = map[string]ast.Level{"": ast.LevelNone, "low": ast.LevelLow, "high": ast.LevelHigh, "critical": ast.LevelCritical}
	rules  sync.Map
)

// detection is a result of a rule, with a level and the value of the field SourceIp.
func detection(rule, level, ip string) graph.Result {
	made, _ := rules.LoadOrStore(rule+"/"+level, result.NewRule(0, &ast.Rule{Meta: ast.Meta{Title: "The " + rule, ID: rule, Level: levels[level]}}))
	d := &result.Detection{Rule: made.(*result.Rule)}
	if ip != "" {
		d.Fields = []result.Field{{Name: "SourceIp", Value: event.AppendQuoted(nil, ip)}}
	}
	return graph.Result{Detection: d}
}

// put hands in the results of one line, which is settled once.
func (r *rig) put(results ...graph.Result) {
	r.tb.Helper()
	n := len(r.settled)
	r.settled = append(r.settled, 0)
	set := &graph.ResultSet{
		Token: graph.NewReceipt(1, func() { r.settled[n]++ }).Token(0), Raw: fmt.Appendf(nil, "line %d", n), Results: results,
	}
	for i := range results {
		if results[i].Detection.Rule != nil {
			set.Held += results[i].Size()
		}
	}
	r.send(set)
}

func (r *rig) send(set *graph.ResultSet) {
	r.tb.Helper()
	if r.Lane().TryPut([]*graph.ResultSet{set}) != 1 {
		r.tb.Fatal("no room")
	}
	synctest.Wait()
}

// passed are the rules of the results that went on, a line each, and the records.
func (r *rig) passed() string {
	var all []string
	for _, set := range r.next.All() {
		switch {
		case set.Barrier != nil:
			all = append(all, "barrier")
		case set.Record != nil:
			var m struct {
				Enrichments struct {
					State string `json:"dedup_state"`
					Count int    `json:"dedup_fire_count"`
				}
				Trigger string
				Count   int `json:"result_count"`
			}
			if err := json.Unmarshal(set.Record.AppendNative(nil), &m); err != nil {
				r.tb.Error(err)
			}
			all = append(all, fmt.Sprintf("%s:%s%s(%d)", set.Record.Kind(), m.Enrichments.State, m.Trigger, m.Enrichments.Count+m.Count))
		default:
			var names []string
			for i := range set.Results {
				names = append(names, set.Results[i].RuleID())
			}
			all = append(all, strings.Join(names, "+"))
		}
	}
	return strings.Join(all, " ")
}

func (r *rig) wantPassed(want string) {
	r.tb.Helper()
	synctest.Wait()
	if got := r.passed(); got != want {
		r.tb.Errorf("went on: %s\nwant:    %s", got, want)
	}
}

func (r *rig) wantSettled(want ...int) {
	r.tb.Helper()
	if fmt.Sprint(r.settled) != fmt.Sprint(want) {
		r.tb.Errorf("settled %v, want %v", r.settled, want)
	}
}

// wantMetrics compares series, written name or name{value of the label}.
func (r *rig) wantMetrics(want map[string]float64) {
	r.tb.Helper()
	got := r.metrics()
	for name, v := range want {
		if have, ok := got[name]; !ok || have != v {
			r.tb.Errorf("%s is %v (there: %t), want %v", name, have, ok, v)
		}
	}
}

func (r *rig) metrics() map[string]float64 {
	r.tb.Helper()
	families, err := r.registry.Gather()
	if err != nil {
		r.tb.Fatal(err)
	}
	all := make(map[string]float64)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			name := f.GetName()
			for _, l := range m.GetLabel() {
				name += "{" + l.GetValue() + "}"
			}
			all[name] = value(m)
		}
	}
	return all
}

func value(m *dto.Metric) float64 {
	switch {
	case m.GetCounter() != nil:
		return m.GetCounter().GetValue()
	case m.GetGauge() != nil:
		return m.GetGauge().GetValue()
	}
	return float64(m.GetHistogram().GetSampleCount())
}

// table is a table in memory, which may refuse to write.
type table struct {
	mu      sync.Mutex // guards the rest
	rows    map[string]string
	refuses bool
	waits   chan struct{} // nil, or what writes wait for
}

var errRefused = errors.New("the disk is full")

func newTable() *table { return &table{rows: make(map[string]string)} }

func (t *table) write(change func()) error {
	if t.waits != nil {
		<-t.waits
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refuses {
		return errRefused
	}
	change()
	return nil
}

func (t *table) Put(key, value []byte) error {
	return t.write(func() { t.rows[string(key)] = string(value) })
}

func (t *table) Delete(keys ...[]byte) error {
	return t.write(func() {
		for _, k := range keys {
			delete(t.rows, string(k))
		}
	})
}

func (t *table) Each(visit func(key, value []byte) bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for n := range 1000 {
		key := string(rowKey(uint64(n)))
		if v, ok := t.rows[key]; ok && !visit([]byte(key), []byte(v)) {
			break
		}
	}
	return nil
}

func (t *table) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.rows)
}

func (t *table) refuse(on bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refuses = on
}

// until waits, and lets everything settle.
func until(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
