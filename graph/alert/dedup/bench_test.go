package dedup

import (
	"bytes"
	"encoding/json"
	"io"
	"runtime"
	"testing"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/alert/sample"
)

const many = 100_000

// filled is a store with many alerts that opened at second 0, and their results.
func filled(b *testing.B, c Config) (*Store, []*graph.Result) {
	b.Helper()
	c.Fingerprint, c.MaxActive = selectors(b, "match.SourceIp"), many
	s, of := New(c), numbered()
	all := make([]*graph.Result, many)
	for n := range all {
		all[n] = of(n)
		s.pass(all[n], 0, incident.Ref{})
	}
	return s, all
}

func noRef(string) incident.Ref { return incident.Ref{} }

// One result after the other is the same.
func BenchmarkFoldEqualResults(b *testing.B) {
	s := New(Config{Fingerprint: selectors(b, "match.SourceIp"), Repeat: 60, Resolve: 3600, MaxActive: 10})
	s.pass(fromOne, 0, incident.Ref{})
	b.ReportAllocs()
	n := int64(0)
	for b.Loop() {
		n++
		if a := s.Find(fromOne); a != nil {
			s.Fold(a, n>>18)
		}
	}
}

// Each result folds into another alert, at a second that is new to it.
func BenchmarkFoldManyAlerts(b *testing.B) {
	s, all := filled(b, Config{Repeat: 60, Resolve: 3600})
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		if a := s.Find(all[n%many]); a != nil {
			s.Fold(a, int64(n/many))
		}
	}
}

func BenchmarkOpenAndResolve(b *testing.B) {
	s, all := filled(b, Config{Resolve: 1})
	b.ReportAllocs()
	n, records := 0, 0
	for b.Loop() {
		if n%many == 0 {
			s.Tick(int64(1+n/many), never, func(*Summary) { records++ }, func(incident.Ref) {})
		}
		if s.pass(all[n%many], int64(1+n/many), incident.Ref{}) != "passes" {
			b.Fatal("it does not pass")
		}
		n++
	}
}

func BenchmarkFindTheStoreFull(b *testing.B) {
	s, _ := filled(b, Config{Resolve: 3600})
	r := numbered()(many + 1)
	b.ReportAllocs()
	for b.Loop() {
		s.pass(r, 0, incident.Ref{})
	}
}

// Nothing is due: all alerts have got results in the second before the tick that would have
// ended them.
func BenchmarkTickWithNothingDue(b *testing.B) {
	s, all := filled(b, Config{Repeat: 7200, Resolve: 3600})
	for at := range 3 {
		for _, r := range all {
			s.pass(r, 1200*int64(at+1)-1, incident.Ref{})
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Tick(3600, never, func(*Summary) { b.Fatal("a record") }, func(incident.Ref) {})
	}
}

func BenchmarkTickThatRepeatsAll(b *testing.B) {
	s, all := filled(b, Config{Repeat: 1, Resolve: 1 << 40})
	b.ReportAllocs()
	now, records := int64(0), 0
	for b.Loop() {
		b.StopTimer()
		now++
		for _, r := range all {
			s.pass(r, now, incident.Ref{})
		}
		b.StartTimer()
		s.Tick(now, never, func(*Summary) { records++ }, func(incident.Ref) {})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(records), "ns/record")
}

// A silence holds the records of all alerts: each tick reads their samples again.
func BenchmarkTickThatHoldsAll(b *testing.B) {
	s, all := filled(b, Config{Repeat: 1, Resolve: 1 << 40})
	for _, r := range all {
		s.pass(r, 1, incident.Ref{})
	}
	held := func(line []byte) bool {
		r, err := sample.Read(line)
		return err == nil && r.RuleID() == "rule-ssh"
	}
	b.ReportAllocs()
	for b.Loop() {
		s.Tick(5, held, func(*Summary) { b.Fatal("a record") }, func(incident.Ref) {})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(many*b.N), "ns/alert")
}

func BenchmarkExport(b *testing.B) {
	s, _ := filled(b, Config{Resolve: 3600})
	b.ReportAllocs()
	for b.Loop() {
		if v := s.Export(func(incident.Ref) string { return "" }); v.Len() != many {
			b.Fatal(v.Len())
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	s, _ := filled(b, Config{Resolve: 3600})
	v := s.Export(func(incident.Ref) string { return "" })
	b.SetBytes(int64(len(s.save(b))))
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Encode(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRestore(b *testing.B) {
	s, _ := filled(b, Config{Resolve: 3600})
	data := s.save(b)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if n, err := New(s.config).Restore(json.NewDecoder(bytes.NewReader(data)), noRef); n != many {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkSummary(b *testing.B) {
	s := New(Config{Fingerprint: selectors(b, "match.SourceIp"), Resolve: 1, MaxActive: 10})
	s.pass(fromOne, 0, incident.Ref{})
	var r *Summary
	s.Tick(1, never, func(last *Summary) { r = last }, func(incident.Ref) {})
	var line []byte
	b.ReportAllocs()
	for b.Loop() {
		line = r.AppendNative(line[:0])
	}
}

// How much memory an alert takes.
func BenchmarkMemory(b *testing.B) {
	for b.Loop() {
		var before, behind runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		s := New(Config{Fingerprint: selectors(b, "match.SourceIp"), Resolve: 3600, MaxActive: many})
		of, texts := numbered(), 0
		for n := range many {
			s.pass(of(n), 0, incident.Ref{})
		}
		for a := range s.slots.all {
			texts += len(a.key) + len(a.memory)
		}
		runtime.GC()
		runtime.ReadMemStats(&behind)
		b.ReportMetric(float64(behind.HeapAlloc-before.HeapAlloc)/many, "B/alert")
		b.ReportMetric(float64(texts)/many, "B/texts")
		runtime.KeepAlive(s)
	}
}
