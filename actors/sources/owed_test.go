package sources

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sources/fetch"
)

// resolve has sources fetched, and waits until they were.
func (d *daemon) resolve(ids ...string) {
	d.t.Helper()
	for _, id := range ids {
		before := len(d.w.began(id))
		if _, err := d.Client().Resolve(d.t.Context(), id); err != nil {
			d.t.Fatal(err)
		}
		d.await("a fetch of "+id, func() bool { return len(d.w.began(id)) > before })
	}
}

// await waits in real time.
func (d *daemon) await(what string, done func() bool) {
	d.t.Helper()
	for limit := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			d.t.Fatalf("%s: that does not come; the log is\n%s", what, d.log.String())
		}
	}
}

// broken takes a database its directory until mend gives it back: it refuses to write, as on
// a disk of which nobody can say what is free.
func broken(t *testing.T, dir string) (mend func()) {
	t.Helper()
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	mend = sync.OnceFunc(func() {
		if err := os.Rename(dir+".away", dir); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(mend)
	return mend
}

func TestAValueThatCouldNotBeStoredIsStoredLater(t *testing.T) {
	for _, tc := range []struct {
		name string
		then func(d *daemon)
	}{
		{"when the source is fetched again, although the value is the same", func(d *daemon) { d.resolve("f") }},
		{"when another value is stored", func(d *daemon) {
			d.w.set("g", `"new"`)
			d.resolve("g")
		}},
		{"when the daemon ends", (*daemon).stop},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			table, closeIt := openTable(t, dir)
			w := newWorld()
			w.set("f", `"first"`)
			w.set("g", `"old"`)
			d := spawn(t, w, []*fetch.Declaration{declared("f"), declared("g")}, func(o *Options) { o.Rows = table })
			d.resolve("f", "g")
			d.await("what is stored first", func() bool { return len(stored(t, table)) == 2 })
			mend := broken(t, dir)
			w.set("f", string(numbered(1)))
			d.resolve("f")
			d.await("the write that fails", func() bool {
				d.rows.mu.Lock()
				defer d.rows.mu.Unlock()
				return d.rows.owed["f"] != nil
			})
			mend()
			tc.then(d)
			d.await("the value in the database", func() bool { return strings.Contains(stored(t, table)["f"], `"parts"`) })
			d.stop()
			closeIt()
			table, _ = openTable(t, dir)
			b := newBook([]*fetch.Declaration{declared("f"), declared("g")})
			newRows(table, slog.New(slog.DiscardHandler)).restore(b)
			if got := b.byID["f"].last; !bytes.Equal(got, numbered(1)) {
				t.Errorf("%d bytes come back, want %d", len(got), len(numbered(1)))
			}
		})
	}
}

// limited refuses to put once so many rows were put.
type limited struct {
	Table
	left int
}

func (l *limited) Put(key, value []byte) error {
	if l.left--; l.left < 0 {
		return errors.New("disk full")
	}
	return l.Table.Put(key, value)
}

// A write that ended halfway leaves parts, which are not taken for those of the next value.
func TestWhatAFailedWriteLeftIsNoPartOfTheNextValue(t *testing.T) {
	for puts := range 4 {
		t.Run(fmt.Sprint(puts, " rows were put"), func(t *testing.T) {
			dir := t.TempDir()
			whole, closeIt := openTable(t, dir)
			table := &limited{whole, puts}
			r := newRows(table, slog.New(slog.DiscardHandler))
			d := declared("f")
			long := fmt.Appendf(nil, `"%0700000d"`, 1) // of three parts
			r.store(d, long, noon)
			r.work.Wait()
			table.left = 100
			r.store(d, numbered(2), noon)
			if err := r.close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if rows := stored(t, table); len(rows) != 3 {
				t.Errorf("%d rows are stored, want one with two parts", len(rows))
			}
			closeIt()
			whole, _ = openTable(t, dir)
			b := newBook([]*fetch.Declaration{d})
			newRows(whole, slog.New(slog.DiscardHandler)).restore(b)
			if got := b.byID["f"].last; !bytes.Equal(got, numbered(2)) {
				t.Errorf("%d bytes come back, want %d", len(got), len(numbered(2)))
			}
		})
	}
}
