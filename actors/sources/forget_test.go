package sources

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/sources/fetch"
)

// blocked is a table whose writes wait until they may.
type blocked struct {
	*slowTable
	free chan struct{}
}

func (b *blocked) Put(key, value []byte) error { <-b.free; return b.slowTable.Put(key, value) }

func TestAValueIsForgottenHoweverBusyTheActorIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &blocked{&slowTable{rows: map[string]string{}}, make(chan struct{})}
		w := newWorld()
		w.values["f"] = `1`
		d := spawn(t, w, []*fetch.Declaration{declared("f", every(time.Hour))}, func(o *Options) { o.Rows, o.Capacity = table, 1 })
		d.begin()
		const clients = 500 // more than the mailbox has room for
		asked := make(chan error, clients)
		for range clients {
			go func() { asked <- d.Client().Invalidate(t.Context(), "f") }()
		}
		synctest.Wait()
		time.Sleep(10 * time.Second)
		if len(asked) != 0 {
			t.Errorf("%d are told that the value is forgotten while it is stored", len(asked))
		}
		close(table.free)
		for range clients {
			if err := <-asked; err != nil {
				t.Fatal(err)
			}
		}
		if d.book.byID["f"].last != nil || len(table.rows) != 0 {
			t.Errorf("%s is the last value, %v is stored", d.book.byID["f"].last, table.rows)
		}
	})
}

func TestForgettingEndsAtLast(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(d *daemon, cancel func())
		want error
		took time.Duration
	}{
		{"a store that does not answer", func(*daemon, func()) {}, mailbox.ErrTimeout, forgetWait},
		{"a client that is gone", func(_ *daemon, cancel func()) { cancel() }, mailbox.ErrTimeout, 0},
		{"the end of the daemon", func(d *daemon, _ func()) { d.end() }, mailbox.ErrStopped, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table := &blocked{&slowTable{rows: map[string]string{}}, make(chan struct{})}
				w := newWorld()
				w.values["f"] = `1`
				d := spawn(t, w, []*fetch.Declaration{declared("f")}, func(o *Options) { o.Rows = table })
				d.begin()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				asked, begun := make(chan error, 1), time.Now()
				go func() { asked <- d.Client().Invalidate(ctx, "f") }()
				synctest.Wait()
				tc.end(d, cancel)
				if err := <-asked; !errors.Is(err, tc.want) || time.Since(begun) != tc.took {
					t.Errorf("%v after %s, want %v after %s", err, time.Since(begun), tc.want, tc.took)
				}
				close(table.free)
			})
		})
	}
}
