package inhibit

import (
	"fmt"
	"testing"
)

// full is an index with as many sources as there may be.
func full(tb testing.TB) *Index {
	tb.Helper()
	x := index(rule(tb, "i", "level = critical", "level = high", "match.SourceIp", 300), rule(tb, "j", "rule =~ other.*", "level = low", "", 300))
	var all []Source
	for i := range MaxSources {
		all = append(all, Source{"i", fmt.Sprintf("\x1f%d", i), int64(i % 300)})
	}
	x.Restore(all, 100)
	return x
}

func BenchmarkTarget(b *testing.B) {
	x, r := full(b), result(b, "high", "SourceIp=10.0.0.1", "User=bo")
	b.ReportAllocs()
	for b.Loop() {
		x.Inhibits(r, 299)
		x.Observe(r, 299)
	}
}

func BenchmarkSource(b *testing.B) {
	x, r := full(b), result(b, "critical", "SourceIp=5000", "User=bo")
	b.ReportAllocs()
	for now := int64(299); b.Loop(); now++ {
		x.Inhibits(r, now)
		x.Observe(r, now)
	}
}

// Each is new, and the oldest goes.
func BenchmarkNewSources(b *testing.B) {
	x := full(b)
	t, key := x.tables["i"], []byte(nil)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		key = fmt.Appendf(key[:0], "new %d", i)
		x.see(t, key, 299)
	}
}

func BenchmarkNothingExpires(b *testing.B) {
	x := full(b)
	b.ReportAllocs()
	for b.Loop() {
		x.Expire(299)
	}
}

// The sources are not sorted yet.
func BenchmarkExport(b *testing.B) {
	x := full(b)
	b.ReportAllocs()
	for b.Loop() {
		if x.Export().Len() != MaxSources {
			b.Fatal("sources are missing")
		}
	}
}
