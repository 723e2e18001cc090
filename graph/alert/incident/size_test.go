//go:build !race

package incident

import (
	"fmt"
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/sluicehq/sluice/graph"
)

// heap is how many bytes of objects there are, and how many the pages hold that they lie in.
func heap() (objects, pages int64) {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc), int64(m.HeapInuse)
}

// held is how many bytes the samples of an incident hold.
func (k *samples) held() int64 {
	n := int64(unsafe.Sizeof(*k)) + int64(cap(k.refs))*8 + int64(cap(k.lines))*24
	for _, line := range k.lines {
		n += int64(cap(line))
	}
	if len(k.lines) == 0 || &k.lines[len(k.lines)-1][0] != &k.newest[0] {
		n += int64(cap(k.newest))
	}
	return n
}

// uuids look like those of the daemon.
func uuids() func() string {
	n := 0
	return func() string {
		n++
		return fmt.Sprintf("00000000-0000-4000-8000-%012x", n)
	}
}

const many = 100_000

func TestMemoryOfManyIncidents(t *testing.T) {
	var names []string
	text := "rule-ssh high"
	for i := range 10 {
		names = append(names, fmt.Sprintf("match.F%d", i))
		text += fmt.Sprintf(" F%d=x", i)
	}
	ten, two := graphed(t, names...), graphed(t, "match.F0", "match.F1")
	ten.MaxOpen, two.MaxOpen = many, many
	t.Run("a result with ten values each", func(t *testing.T) {
		r := hit(t, text)
		memory(t, ten, func(store *Store, i int) {
			for f := range 10 {
				setField(r, f, fmt.Sprintf("h%d-%07d", f, i))
			}
			store.Assign(r, 0)
		})
	})
	t.Run("nine results that share a value", func(t *testing.T) {
		r := hit(t, "rule-ssh high F0=x F1=x")
		memory(t, two, func(store *Store, i int) {
			setField(r, 0, fmt.Sprintf("u-%08d", i))
			for part := range 9 {
				setField(r, 1, fmt.Sprintf("h%d-%07d", part, i))
				store.Assign(r, 0)
			}
		})
	})
}

// memory fills a store, and measures it behind the first records.
func memory(t *testing.T, c Config, fill func(store *Store, i int)) {
	t.Helper()
	store := New(c, uuids())
	before, inUse := heap()
	for i := range many {
		fill(store, i)
	}
	store.Tick(30, loud, func(*Record) {})
	after, inUseAfter := heap()
	var samples int64
	for _, c := range store.all {
		same(t, "values", len(c.owned), 10)
		samples += c.samples.held()
	}
	same(t, "incidents", len(store.all), many)
	each := (after - before - samples) / many
	t.Logf("%d open incidents with ten entities each take %d bytes each beside their samples, and %d with them (in pages of the heap: %d and %d)",
		many, each, (after-before)/many, (inUseAfter-inUse-samples)/many, (inUseAfter-inUse)/many)
	if each > 1024 {
		t.Errorf("an incident takes %d bytes beside its samples, want 1024 at most", each)
	}
	runtime.KeepAlive(store)
}

// A host that is everywhere names a million users in one incident.
func TestAFloodOfEntitiesStaysWithinItsMemory(t *testing.T) {
	c := graphed(t, "match.Host", "match.User")
	c.MaxResults = 10
	store := New(c, uuids())
	before, _ := heap()
	var sum Outcome
	r := hit(t, "rule-ssh high Host=srv User=x")
	for i := range 1_000_000 {
		_, o := store.Assign(flood(r, i), int64(i/10_000))
		sum.Ceiling += o.Ceiling
		sum.Unindexed += o.Unindexed
		sum.Refused += o.Refused
		if i%10_000 == 0 {
			store.Tick(int64(i/10_000), loud, func(*Record) {})
		}
	}
	after, _ := heap()
	took := after - before
	t.Logf("a million values in one incident take %d MiB; %d of them lead nowhere", took>>20, sum.Unindexed)
	if limit := int64(128 << 20); took > limit {
		t.Errorf("%d bytes, want %d at most", took, limit)
	}
	same(t, "refused", sum.Refused, 0)
	same(t, "ceiling", sum.Ceiling, 1_000_000-c.MaxCardinality)
	e := store.all[0]
	shown := 0
	for key := range e.set {
		if sel, _ := parse(key); sel == 1 {
			shown++
		}
	}
	same(t, "users that the incident shows", shown, c.MaxEntities)
	same(t, "incidents", len(store.all), 1)
	store.Tick(10_000, loud, func(*Record) {})
	store.Tick(10_001, loud, func(*Record) {})
	same(t, "incidents at the end", len(store.all), 0)
	after, _ = heap()
	if left := after - before; left > 8<<20 {
		t.Errorf("%d bytes are left", left)
	}
	runtime.KeepAlive(store)
}

// The values are all of one result after the other: ten thousand that share nothing.
func TestAFloodOfIncidentsStaysWithinItsCap(t *testing.T) {
	store := New(graphed(t, "match.User"), uuids())
	before, _ := heap()
	refused, r := 0, hit(t, "rule-ssh high Host=srv User=x")
	for i := range 1_000_000 {
		_, o := store.Assign(flood(r, i), 0)
		refused += o.Refused
	}
	after, _ := heap()
	took := after - before
	t.Logf("a million values that share nothing take %d MiB", took>>20)
	same(t, "refused", refused, 1_000_000-10_000)
	same(t, "open", len(store.all), 10_000)
	if limit := int64(48 << 20); took > limit {
		t.Errorf("%d bytes, want %d at most", took, limit)
	}
	store.check(t)
	store.Tick(0, loud, func(*Record) {})
	values := 0
	for i := range store.values.parts {
		values += store.values.parts[i].n
	}
	same(t, "values behind the tick", values, 10_000)
}

// flood makes r a result of a user of that number.
func flood(r *graph.Result, i int) *graph.Result {
	setField(r, 1, fmt.Sprintf("user-%08d", i))
	return r
}

func TestNothingIsAllocatedForAResultOfAnOpenIncident(t *testing.T) {
	for _, c := range []Config{grouped(t, "match.Host", "match.User"), graphed(t, "match.Host", "match.User")} {
		c.MaxResults = 5
		store, r := New(c, uuids()), hit(t, "rule-ssh high Host=srv User=alice")
		for range 10 {
			store.Assign(r, 0)
		}
		if n := testing.AllocsPerRun(1000, func() { store.Assign(r, 1) }); n != 0 {
			t.Errorf("%s: %v allocations", c.Mode, n)
		}
		ref, _ := store.Assign(r, 1)
		if n := testing.AllocsPerRun(1000, func() { store.Refresh(ref, "rule-ssh", 1) }); n != 0 {
			t.Errorf("%s: %v allocations to refresh", c.Mode, n)
		}
	}
}

// What takes long is measured many times, and the fastest counts: others use the machine.
func fastest(n int, f func()) time.Duration {
	best := time.Hour
	for range n {
		start := time.Now()
		f()
		best = min(best, time.Since(start))
	}
	return best
}

func TestExportsAndTicksOfManyIncidents(t *testing.T) {
	store, results := crowd(t, graphed(t, "match.Host", "match.User", "match.Ip"), 100_000)
	export := fastest(10, func() {
		store.Assign(results[7], 31)
		store.Export()
	})
	tick := fastest(100, func() { store.Tick(32, loud, func(*Record) { t.Error("a record") }) })
	t.Logf("with 100,000 open incidents an export takes %v, a tick with nothing due %v", export, tick)
	if export > 5*time.Millisecond {
		t.Errorf("an export takes %v, want 5ms at most", export)
	}
	if tick > time.Millisecond {
		t.Errorf("a tick takes %v, want 1ms at most", tick)
	}
}
