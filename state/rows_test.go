package state_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/state"
)

// keysOf walks through rows and returns up to n keys.
func keysOf(t *testing.T, rows *state.Table, o state.Order, n int) (keys []string) {
	t.Helper()
	err := rows.Walk(o, func(r state.Row) bool {
		v, err := r.Value()
		if err != nil || string(v) != "value of "+string(r.Key()) {
			t.Errorf("row %q = %q, %v", r.Key(), v, err)
		}
		keys = append(keys, string(r.Key()))
		return len(keys) < n
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func TestRowsAreWalkedInBothOrders(t *testing.T) {
	st := open(t, t.TempDir())
	defer st.Close()
	for _, name := range []string{"audi", "audit", "audit0", "auditor"} { // prefixes and neighbours of each other
		rows := st.Table(name)
		for _, key := range []string{"b", "a", "\xff\xff", "c"} {
			if err := rows.Put([]byte(key), []byte("value of "+key)); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows := st.Table("audit")
	for _, tc := range []struct {
		name  string
		order state.Order
		most  int
		want  []string
	}{
		{"forward, smallest key first", state.Forward, 9, []string{"a", "b", "c", "\xff\xff"}},
		{"backward, largest key first", state.Backward, 9, []string{"\xff\xff", "c", "b", "a"}},
		{"the visitor ends the walk", state.Backward, 2, []string{"\xff\xff", "c"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := keysOf(t, rows, tc.order, tc.most); fmt.Sprintf("%q", got) != fmt.Sprintf("%q", tc.want) {
				t.Errorf("keys = %q, want %q", got, tc.want)
			}
		})
	}
	if err := rows.Delete([]byte("a"), []byte("c"), []byte("never there")); err != nil {
		t.Fatal(err)
	}
	if got, want := keysOf(t, rows, state.Forward, 9), []string{"b", "\xff\xff"}; fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("after Delete keys = %q, want %q", got, want)
	}
	if got := keysOf(t, st.Table("auditor"), state.Forward, 9); len(got) != 4 {
		t.Errorf("another table has lost rows: %q", got)
	}
}

func TestTablesAreRefusedByAClosedStore(t *testing.T) {
	st := open(t, t.TempDir())
	rows := st.Table("rows")
	var wg sync.WaitGroup
	begun := make(chan struct{}, 4)
	for n := range 4 { // they must neither crash nor hang while the store is closed beneath them
		wg.Go(func() {
			for i := 0; ; i++ {
				key := fmt.Appendf(nil, "%d %d", n, i)
				if rows.Put(key, key) != nil {
					return
				}
				if i == 0 {
					begun <- struct{}{}
				}
			}
		})
	}
	for range 4 {
		<-begun
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	if err := rows.Walk(state.Forward, func(state.Row) bool { return true }); err == nil {
		t.Error("the rows of a closed store were read")
	}
	if err := rows.Delete([]byte("k")); err == nil {
		t.Error("a row of a closed store was deleted")
	}
}
