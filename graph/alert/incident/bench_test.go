package incident

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strconv"
	"testing"

	"github.com/sluicehq/sluice/graph"
)

// crowd is a store with many incidents that were reported, and results of theirs.
func crowd(tb testing.TB, c Config, n int) (*Store, []*graph.Result) {
	tb.Helper()
	c.MaxOpen = n
	next := 0
	store, results := New(c, func() string { next++; return "incident-" + strconv.Itoa(next) }), make([]*graph.Result, n)
	first := hit(tb, "rule-ssh high Host=x User=x Ip=x")
	for i := range results {
		d := *first.Detection
		d.Fields = slices.Clone(d.Fields)
		for f, text := range []string{"host", "user", "10.0"} {
			d.Fields[f].Value = fmt.Appendf(nil, `"%s-%06d"`, text, i)
		}
		results[i] = &graph.Result{Detection: &d}
		store.Assign(results[i], 0)
	}
	store.Tick(30, loud, func(*Record) {})
	return store, results
}

func BenchmarkAssign(b *testing.B) {
	for _, c := range []Config{grouped(b, "match.Host", "match.User"), graphed(b, "match.Host", "match.User", "match.Ip")} {
		for _, include := range []Include{Refs, Results} {
			for _, n := range []int{1, 1000, 100_000} {
				b.Run(fmt.Sprintf("%s/%s/%d", c.Mode, include, n), func(b *testing.B) {
					c.Include, c.MaxResults, c.MaxCardinality = include, 10, 1<<30
					store, results := crowd(b, c, n)
					b.ReportAllocs()
					i := 0
					for b.Loop() {
						store.Assign(results[i%n], 31)
						i++
					}
				})
			}
		}
	}
}

func BenchmarkRefresh(b *testing.B) {
	store, results := crowd(b, grouped(b, "match.Host"), 1000)
	ref, _ := store.Assign(results[500], 31)
	b.ReportAllocs()
	for b.Loop() {
		store.Refresh(ref, "rule-ssh", 31)
	}
}

func BenchmarkOpenAndResolve(b *testing.B) {
	for _, c := range []Config{grouped(b, "match.Host"), graphed(b, "match.Host", "match.User", "match.Ip")} {
		b.Run(string(c.Mode), func(b *testing.B) {
			c.Wait, c.Resolve = 0, 1
			store := New(c, func() string { return "incident" })
			r := hit(b, "rule-ssh high Host=srv User=alice Ip=10.0.0.1")
			now := int64(0)
			b.ReportAllocs()
			for b.Loop() {
				store.Assign(r, now)
				store.Tick(now, loud, func(*Record) {})
				now += 2
				store.Tick(now, loud, func(*Record) {})
			}
		})
	}
}

func BenchmarkTickWithNothingDue(b *testing.B) {
	store, _ := crowd(b, grouped(b, "match.Host"), 100_000)
	b.ReportAllocs()
	for b.Loop() {
		store.Tick(31, loud, func(*Record) { b.Fatal("a record") })
	}
}

func BenchmarkTickWithEverythingDue(b *testing.B) {
	c := grouped(b, "match.Host")
	c.Repeat = 1
	store, _ := crowd(b, c, 100_000)
	now, n := int64(31), 0
	b.ReportAllocs()
	for b.Loop() {
		store.Tick(now, loud, func(*Record) { n++ })
		now++
	}
	b.ReportMetric(float64(n)/float64(b.N), "records/op")
}

func BenchmarkExport(b *testing.B) {
	store, results := crowd(b, graphed(b, "match.Host", "match.User", "match.Ip"), 100_000)
	b.ReportAllocs()
	for b.Loop() {
		store.Assign(results[0], 31) // something has changed
		store.Export()
	}
}

// The first results behind an export copy what the export shows.
func BenchmarkAssignBehindAnExport(b *testing.B) {
	const n = 1000
	store, results := crowd(b, graphed(b, "match.Host", "match.User", "match.Ip"), n)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i%n == 0 {
			store.Export()
		}
		store.Assign(results[i%n], 31)
		i++
	}
}

func BenchmarkEncode(b *testing.B) {
	store, _ := crowd(b, graphed(b, "match.Host", "match.User", "match.Ip"), 100_000)
	var out bytes.Buffer
	if err := store.Export().Encode(&out); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(out.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if err := store.Export().Encode(io.Discard); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRestore(b *testing.B) {
	c := graphed(b, "match.Host", "match.User", "match.Ip")
	store, _ := crowd(b, c, 100_000)
	var out bytes.Buffer
	if err := store.Export().Encode(&out); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(out.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := New(c, nil).Restore(out.Bytes(), 0); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppendNative(b *testing.B) {
	for _, c := range []Config{grouped(b, "match.Host"), graphed(b, "match.Host", "match.User", "match.Ip")} {
		b.Run(string(c.Mode), func(b *testing.B) {
			store, _ := crowd(b, c, 1)
			r := store.record(store.all[0].node, GroupWait)
			var line []byte
			b.ReportAllocs()
			for b.Loop() {
				line = r.AppendNative(line[:0])
			}
		})
	}
}
