package audit

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dgraph-io/badger/v4"

	"github.com/sluicehq/sluice/sigma/timespan"
	"github.com/sluicehq/sluice/state"
)

func TestPruningKeepsTheBounds(t *testing.T) {
	for _, tc := range []struct {
		name  string
		limit func(*Options)
		rows  []int64 // times
		now   int64
		want  string
		next  int64
	}{
		{"the lowest ids go first", limits(2, 1<<62), []int64{1, 2, 3, 4, 5}, 5, "[5 4]", 6},
		{"none is kept", limits(0, 1<<62), []int64{1, 2, 3}, 3, "[]", 4},
		{"what is exactly as old as allowed stays", limits(9, timespan.Seconds(100)), []int64{99, 100, 101}, 200, "[3 2]", 4},
		{"all are too old", limits(9, timespan.Seconds(100)), []int64{1, 2}, 500, "[]", 3},
		{"age first, then number", limits(2, timespan.Seconds(100)), []int64{1, 150, 160, 170}, 200, "[4 3]", 5},
		{"a clock that was ahead shields nobody behind it", limits(9, timespan.Seconds(100)), []int64{900, 10, 190}, 200, "[3 1]", 4},
		{"the newest goes by its own time", limits(9, timespan.Seconds(100)), []int64{190, 10}, 200, "[1]", 3},
		{"nothing to do", limits(9, timespan.Seconds(100)), []int64{150, 200}, 200, "[2 1]", 3},
		{"no age is too long", limits(9, 1<<63-1), []int64{-1 << 30, 200}, 200, "[2 1]", 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			r := open(t, dir, tc.limit)
			r.add(tc.rows...)
			r.now = tc.now
			r.prune()
			if got := r.ids(t); got != tc.want {
				t.Errorf("left %s, want %s", got, tc.want)
			}
			if p := r.page(t, All()); p.Count != strings.Count(tc.want, " ")+min(1, len(tc.want)-2) {
				t.Errorf("count %d for %s", p.Count, tc.want)
			}
			r.end(t)
			r = open(t, dir, limits(100, 1<<62)) // ids go on in another life
			r.add(tc.now)
			q := All()
			q.Limit = 1
			if got := r.page(t, q).Entries[0].ID; got != tc.next {
				t.Errorf("the next id is %d, want %d", got, tc.next)
			}
			r.end(t)
		})
	}
}

func TestTheStartPrunes(t *testing.T) {
	dir := t.TempDir()
	r := open(t, dir)
	r.add(r.now, r.now+1, r.now+2)
	r.end(t)
	r = open(t, dir, limits(1, timespan.Day))
	if got := r.ids(t); got != "[3]" {
		t.Errorf("left %s, want [3]", got)
	}
}

func TestEachIntervalPrunes(t *testing.T) {
	deleted := make(chan int, 1)
	r := open(t, t.TempDir(), limits(1, timespan.Day), func(o *Options) {
		o.Rows, o.Interval = &watched{Table: o.Rows.(*state.Table), deleted: deleted}, time.Millisecond
	})
	for range 3 {
		for range 2 {
			r.record(t.Context(), Record{Method: "POST", Endpoint: "/x", Status: 200})
		}
		select {
		case <-deleted:
		case <-time.After(patience):
			t.Fatal("nothing was pruned")
		}
	}
}

func TestAHundredThousandRowsArePruned(t *testing.T) {
	const rows, kept = 100_000, 10_000
	dir := t.TempDir()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil))
	if err != nil {
		t.Fatal(err)
	}
	batch := db.NewWriteBatch()
	for id := int64(1); id <= rows; id++ {
		r := Record{ID: id, TS: 1_714_400_000 + id, Method: "POST", Endpoint: "/api/v1/silences", Status: 201}
		line, err := r.line()
		if err == nil {
			err = batch.Set(append([]byte("r/audit/"), keyOf(r.ID, r.TS)...), line)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(batch.Flush(), db.Close()); err != nil {
		t.Fatal(err)
	}

	r := open(t, dir, limits(rows, 30*timespan.Day))
	if p := r.page(t, Query{Limit: 1, Offset: rows - 1, Since: -1 << 63, Until: 1<<63 - 1}); p.Count != rows || p.Entries[0].ID != 1 {
		t.Fatalf("got %d rows ending in %v, want %d ending in 1", p.Count, p.Entries, rows)
	}
	if p := r.page(t, Query{Limit: 2, Since: 1_714_400_001, Until: 1_714_450_000}); p.Count != 50_000 || fmt.Sprint(idsOf(p)) != "[50000 49999]" {
		t.Errorf("half of the rows: %d, %v", p.Count, idsOf(p))
	}
	r.now = 1_714_500_000
	r.add(r.now)
	r.prune() // one too many
	if p := r.page(t, All()); p.Count != rows {
		t.Errorf("%d rows, want %d", p.Count, rows)
	}
	r.end(t)

	r = open(t, dir, limits(kept, 30*timespan.Day))
	p := r.page(t, Query{Limit: 1000, Offset: kept - 1, Since: -1 << 63, Until: 1<<63 - 1})
	if want := fmt.Sprint([]int64{rows + 2 - kept}); p.Count != kept || fmt.Sprint(idsOf(p)) != want {
		t.Errorf("%d rows ending in %v, want %d ending in %s", p.Count, idsOf(p), kept, want)
	}
	r.end(t)

	r = open(t, dir, limits(kept, timespan.Seconds(1)))
	r.now += 10
	r.prune()
	r.add(r.now)
	if got, want := r.ids(t), fmt.Sprint([]int64{rows + 2}); got != want {
		t.Errorf("left %s, want %s", got, want)
	}
}

func TestAPruneThatFailsIsCountedAndTriedAgain(t *testing.T) {
	var fails error
	r := open(t, t.TempDir(), limits(1, timespan.Day), func(o *Options) {
		o.Rows = &watched{Table: o.Rows.(*state.Table), put: func(key []byte) error {
			if bytes.Equal(key, lastKey) {
				return fails
			}
			return nil
		}}
	})
	r.add(r.now, r.now)
	fails = errors.New("disk full")
	r.prune()
	if got := r.counts() + r.ids(t); got != "2 1[2 1]" {
		t.Errorf("got %s, want an error and both rows", got)
	}
	if lines := r.log.Matching("audit trail not pruned", "disk full"); len(lines) != 1 {
		t.Errorf("logged %q, want one line", lines)
	}
	fails = nil
	r.prune()
	if got := r.ids(t); got != "[2]" {
		t.Errorf("left %s, want [2]", got)
	}
}

func TestAClosedStoreIsNoFaultOfThePrune(t *testing.T) {
	r := open(t, t.TempDir(), limits(0, timespan.Day))
	r.add(r.now)
	if err := r.store.Close(); err != nil {
		t.Fatal(err)
	}
	r.prune()
	if got := r.counts(); got != "1 0" {
		t.Errorf("records and errors %s, want 1 0", got)
	}
	if _, err := r.Page(All()); err == nil {
		t.Error("a page of a closed store was read")
	}
}
