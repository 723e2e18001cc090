package alert

import (
	"fmt"
	"testing"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/actorstest"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/graph"
)

// sinkhole takes everything and tells of records.
type sinkhole chan struct{}

func (s sinkhole) TryPut(run []*graph.ResultSet) int {
	if run[len(run)-1].Record != nil {
		s <- struct{}{}
	}
	return len(run)
}

func (sinkhole) Park([]*graph.ResultSet, func()) func() []*graph.ResultSet { return nil }

// The cost of the stage itself, for each result set: what passes unchanged, beside a stage
// that does nothing, and results that a file has something to do with.
func BenchmarkStage(b *testing.B) {
	const sets = 256
	results := make([]graph.Result, sets)
	for i := range results {
		results[i] = detection("ssh", "high", fmt.Sprint(i%64))
	}
	for _, tc := range []struct {
		name, file string
	}{
		{"nothing to do, a stage that passes", "pass"},
		{"nothing to do, this stage", ""},
		{"a file without anything", "{}"},
		{"results of another scope", "{scope: {levels: [low]}, dedup: {fingerprint: [rule]}}"},
		{"a silence that does not match", "silences: [{matchers: [{selector: match.SourceIp, value: x}]}]"},
		{"results that are folded", "dedup: {fingerprint: [match.SourceIp]}"},
		{"results that are grouped", "group: {by: [match.SourceIp]}"},
	} {
		b.Run(tc.name, func(b *testing.B) {
			to := make(sinkhole, 1)
			o := Options{StageOptions: actors.StageOptions{Capacity: sets + 1}, Next: to, Metrics: actorstest.Metrics(b, NewMetrics)}
			system := actorstest.System(b, actors.Options{})
			var lane *mailbox.Lane[*graph.ResultSet]
			if tc.file == "pass" {
				p := actors.NewPass(graph.StageAlert, o.StageOptions, to, func(int64) any { return nil })
				lane = p.Lane()
				if _, err := system.Spawn(p.Cell(), p.Produce); err != nil {
					b.Fatal(err)
				}
			} else {
				if tc.file != "" {
					o.File = &File{serving: parse(b, tc.file)}
				}
				s := New(o)
				lane = s.Lane()
				if _, err := system.Spawn(s.Cell(), s.Produce); err != nil {
					b.Fatal(err)
				}
			}
			run, own, list := make([]*graph.ResultSet, sets+1), make([]graph.Result, sets), make([]graph.ResultSet, sets+1)
			b.ReportAllocs()
			for b.Loop() {
				for i := range own {
					own[i] = results[i]
					list[i] = graph.ResultSet{Results: own[i : i+1 : i+1]}
					run[i] = &list[i]
				}
				run[sets] = &list[sets]
				list[sets].Record = note{} // the end
				lane.TryPut(run)
				<-to
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*sets), "ns/set")
		})
	}
}
