package sources

import (
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/sources/fetch"
)

func TestAStoredValueIsToldUntilAFetchSucceeds(t *testing.T) {
	const value = `["a"]`
	for _, tc := range []struct{ name, next string }{
		{"another value", `["b"]`},
		{"the same value", value},
		{"the same value with other white space", "[ \"a\" ]"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := &slowTable{rows: map[string]string{}}
				r := newRows(table, slog.New(slog.DiscardHandler))
				for _, id := range []string{"f", "g"} {
					r.store(declared(id), []byte(value), noon)
				}
				r.work.Wait()
				w := newWorld() // whose time begins now
				w.values["g"] = value
				d := spawn(t, w, []*fetch.Declaration{declared("f"), declared("g"), declared("h", optional)}, func(o *Options) { o.Rows = table })
				stored := func() []string { return d.Feature().Status()[0].Value.(Status).Stored }
				if got := stored(); got != nil {
					t.Errorf("before the first fetch %v are told", got)
				}
				d.begin()
				if got := stored(); !slices.Equal(got, []string{"f"}) || d.value("f") != value {
					t.Errorf("%v have stored values, f has %s", got, d.value("f"))
				}
				if err := d.Client().Invalidate(t.Context(), "f"); err != nil {
					t.Fatal(err)
				}
				if got := stored(); !slices.Equal(got, []string{"f"}) {
					t.Errorf("behind its invalidation %v have stored values, want f, which rules still have", got)
				}
				w.set("f", tc.next)
				time.Sleep(time.Until(d.w.begun.Add(6 * time.Second)))
				synctest.Wait()
				if got := stored(); got != nil {
					t.Errorf("behind a fetch %v have stored values", got)
				}
				time.Sleep(time.Hour)
				if got := len(w.began("f")); got != 2 {
					t.Errorf("%d fetches, want none behind the one that succeeded", got)
				}
			})
		})
	}
}
