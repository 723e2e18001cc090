package sources

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sources/fetch"
	"github.com/sluicehq/sluice/state"
)

// openTable opens the table in a database, which is closed with the test.
func openTable(t *testing.T, dir string) (table *state.Table, closeIt func()) {
	t.Helper()
	store, err := state.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	closeIt = sync.OnceFunc(func() {
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(closeIt)
	return store.Table(TableName), closeIt
}

func stored(t *testing.T, table Table) map[string]string {
	t.Helper()
	rows := map[string]string{}
	if err := table.Each(func(k, v []byte) bool { rows[string(k)] = string(v); return true }); err != nil {
		t.Fatal(err)
	}
	return rows
}

// dropped has a row removed and waits for it.
func (r *rows) dropped(id string) error {
	told := make(chan error, 1)
	r.drop(id, told)
	return <-told
}

func TestARowAsJSON(t *testing.T) {
	table, _ := openTable(t, t.TempDir())
	r := newRows(table, slog.New(slog.DiscardHandler))
	d := declared("f")
	r.store(d, []byte(`["a",12345678901234567890,{"u":"<&>"}]`), time.Unix(1_714_500_000, 999))
	if err := r.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf(`{"v":1,"fingerprint":%q,"updated_at":1714500000,"value":["a",12345678901234567890,{"u":"<&>"}]}`, d.Fingerprint())
	if got := stored(t, table)["f"]; got != want || len(d.Fingerprint()) != 64 {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestWhichRowsComeBack(t *testing.T) {
	d := declared("f")
	good := func(value string) string {
		return fmt.Sprintf(`{"v":1,"fingerprint":%q,"updated_at":1,"value":%s}`, d.Fingerprint(), value)
	}
	for _, tc := range []struct {
		name, id, row string
		want          string // "" if it is removed
	}{
		{"a row of the declaration", "f", good(`[1]`), `[1]`},
		{"null", "f", good(`null`), `null`},
		{"a source that nobody declares", "g", good(`[1]`), ""},
		{"a declaration of another place", "f", strings.Replace(good(`[1]`), d.Fingerprint(), declared("other").Fingerprint(), 1), ""},
		{"another layout", "f", strings.Replace(good(`[1]`), `"v":1`, `"v":2`, 1), ""},
		{"no value", "f", fmt.Sprintf(`{"v":1,"fingerprint":%q}`, d.Fingerprint()), ""},
		{"one that was removed when the machine failed", "f", `{}`, ""},
		{"no JSON", "f", `{"v":1`, ""},
		{"a part that belongs to nothing", "f/0000000000000001/00000000", `[1]`, ""},
	} {
		table, _ := openTable(t, t.TempDir())
		if err := table.Put([]byte(tc.id), []byte(tc.row)); err != nil {
			t.Fatal(err)
		}
		b := newBook([]*fetch.Declaration{d})
		newRows(table, slog.New(slog.DiscardHandler)).restore(b)
		if got := string(b.byID["f"].last); got != tc.want {
			t.Errorf("%s: the last value is %q, want %q", tc.name, got, tc.want)
		}
		if rows := stored(t, table); (len(rows) == 1) != (tc.want != "") {
			t.Errorf("%s: stored are %v", tc.name, rows)
		}
		if !isNull(b.byID["f"].current) {
			t.Errorf("%s: the value counts before it was fetched", tc.name)
		}
	}
}

func TestPartsOfAValueThatIsNoMoreAreRemoved(t *testing.T) {
	dir := t.TempDir()
	table, closeIt := openTable(t, dir)
	r := newRows(table, slog.New(slog.DiscardHandler))
	d := declared("f")
	for n := range 3 {
		r.store(d, numbered(n), noon)
		r.store(declared("f-g"), numbered(n), noon) // whose key stands between those of f
		r.work.Wait()
	}
	if rows := stored(t, table); len(rows) != 6 {
		t.Errorf("%d rows are stored, want two with two parts each", len(rows))
	}
	if err := table.Put([]byte("f/00000000000000ff/00000000"), []byte("x")); err != nil { // of a start that was killed
		t.Fatal(err)
	}
	closeIt()
	table, _ = openTable(t, dir)
	r = newRows(table, slog.New(slog.DiscardHandler))
	b := newBook([]*fetch.Declaration{d, declared("f-g")})
	r.restore(b)
	for _, e := range b.entries {
		if !bytes.Equal(e.last, numbered(2)) {
			t.Errorf("%d bytes of %s come back", len(e.last), e.ID)
		}
	}
	if rows := stored(t, table); len(rows) != 6 {
		t.Errorf("%d rows are stored after the start, want six", len(rows))
	}
	r.store(d, []byte(`1`), noon)
	r.store(declared("f-g"), numbered(3), noon)
	r.work.Wait()
	if rows := stored(t, table); len(rows) != 4 {
		t.Errorf("%d rows are stored after a short value, want four", len(rows))
	}
	for _, id := range []string{"f", "f-g"} {
		if err := r.dropped(id); err != nil {
			t.Error(err)
		}
	}
	if rows := stored(t, table); len(rows) != 0 {
		t.Errorf("%d rows are stored after all", len(rows))
	}
}

func TestALargeValueIsStored(t *testing.T) {
	dir := t.TempDir()
	table, closeIt := openTable(t, dir)
	value, err := json.Marshal(strings.Repeat("0123456789abcdef", 2<<20)) // 32 MiB
	if err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	r := newRows(table, slog.New(slog.NewTextHandler(&log, nil)))
	r.store(declared("f"), value, noon)
	if err := r.close(t.Context()); err != nil || log.Len() > 0 {
		t.Fatalf("%v: %s", err, log.String())
	}
	closeIt()
	again, _ := openTable(t, dir)
	b := newBook([]*fetch.Declaration{declared("f")})
	newRows(again, slog.New(slog.DiscardHandler)).restore(b)
	if !bytes.Equal(b.byID["f"].last, value) {
		t.Errorf("%d bytes come back of %d", len(b.byID["f"].last), len(value))
	}
}

// slowTable is a table whose writes take a second and fail on demand.
type slowTable struct {
	mu     sync.Mutex
	rows   map[string]string
	writes int
	err    error
}

func (s *slowTable) Put(key, value []byte) error {
	time.Sleep(time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes++
	if s.err == nil {
		s.rows[string(key)] = string(value)
	}
	return s.err
}

func (s *slowTable) Delete(keys ...[]byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		delete(s.rows, string(k))
	}
	return s.err
}

func (s *slowTable) Each(visit func(key, value []byte) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(s.rows)) {
		if !visit([]byte(k), []byte(s.rows[k])) {
			break
		}
	}
	return s.err
}

func TestStoringHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &slowTable{rows: map[string]string{}}
		w := newWorld()
		w.values["f"] = `0`
		nats := func(d *fetch.Declaration) { d.Type = fetch.NATS }
		d := spawn(t, w, []*fetch.Declaration{declared("f", nats, refreshed(fetch.Push))}, func(o *Options) { o.Rows = table })
		d.begin()
		for n := range 100 {
			w.messages <- strconv.Itoa(n)
		}
		synctest.Wait()
		if got := d.value("f"); got != `99` || time.Since(w.begun) != 0 {
			t.Errorf("after %s the value is %s", time.Since(w.begun), got)
		}
		time.Sleep(time.Minute)
		table.mu.Lock()
		writes, text := table.writes, table.rows["f"]
		table.mu.Unlock()
		if writes > 3 || !strings.Contains(text, `"value":99}`) {
			t.Errorf("after %d writes %s is stored, want the last value after few", writes, text)
		}
		if err := d.Client().Invalidate(t.Context(), "f"); err != nil {
			t.Fatal(err)
		}
		table.mu.Lock()
		rows := maps.Clone(table.rows)
		table.mu.Unlock()
		if len(rows) != 0 {
			t.Errorf("%v is stored after it was dropped", rows)
		}
	})
}

func TestAValueThatCannotBeStoredIsUsedAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &slowTable{rows: map[string]string{}, err: errors.New("no space left")}
		w := newWorld()
		w.values["f"] = `1`
		d := spawn(t, w, []*fetch.Declaration{declared("f")}, func(o *Options) { o.Rows = table })
		d.begin()
		time.Sleep(time.Minute)
		if got := d.value("f"); got != `1` || !strings.Contains(d.log.String(), "no space left") {
			t.Errorf("the value is %s; the log is\n%s", got, d.log.String())
		}
		var failed *StoreError
		if err := d.Client().Invalidate(t.Context(), "f"); !errors.As(err, &failed) || err.Error() != "the stored value of source 'f' is not removed: no space left" {
			t.Errorf("a row that is not removed counts as removed: %v", err)
		}
		table.mu.Lock()
		table.err = nil
		table.mu.Unlock()
		if err := d.Client().Invalidate(t.Context(), "f"); err != nil {
			t.Errorf("a second attempt: %v", err)
		}
	})
}

func TestTheEndWaitsForWhatIsBeingStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		table := &slowTable{rows: map[string]string{}}
		r := newRows(table, slog.New(slog.DiscardHandler))
		r.store(declared("f"), []byte(`1`), noon)
		if err := r.close(t.Context()); err != nil || len(table.rows) != 1 {
			t.Errorf("%v, stored are %v", err, table.rows)
		}
		r.store(declared("g"), []byte(`1`), noon)
		if err := r.dropped("f"); !errors.Is(err, errEnded) {
			t.Errorf("after the end a row is removed: %v", err)
		}
		time.Sleep(time.Minute)
		if got := slices.Collect(maps.Keys(table.rows)); !slices.Equal(got, []string{"f"}) {
			t.Errorf("after the end %v are stored", got)
		}
		late := newRows(&slowTable{rows: map[string]string{}}, slog.New(slog.DiscardHandler))
		late.store(declared("f"), []byte(`1`), noon)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := late.close(ctx); err == nil {
			t.Error("the end says nothing of what is not stored")
		}
		time.Sleep(time.Minute)
	})
}

// However a process dies while it stores a value, the old one is there or the new one.
func TestAKilledProcessLeavesTheOldValueOrTheNew(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	random := rand.New(rand.NewPCG(1, 2))
	last, moved := -1, 0
	rounds := sigmatest.Rounds(30)
	for round := range rounds {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, begun := bufio.NewScanner(out), -1
		for want := 1 + random.IntN(6); begun < want && lines.Scan(); {
			if begun, err = strconv.Atoi(lines.Text()); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Duration(random.IntN(3000)) * time.Microsecond)
		_ = cmd.Process.Kill()
		for lines.Scan() {
			begun, _ = strconv.Atoi(lines.Text())
		}
		_ = cmd.Wait()
		table, closeIt := openTable(t, dir)
		b := newBook([]*fetch.Declaration{declared("f")})
		newRows(table, slog.New(slog.DiscardHandler)).restore(b)
		value := b.byID["f"].last
		closeIt()
		n, _, _ := bytes.Cut(bytes.TrimPrefix(value, []byte("[")), []byte(","))
		got, err := strconv.Atoi(string(n))
		if err != nil || !bytes.Equal(value, numbered(got)) || got != begun && got != begun-1 {
			t.Fatalf("round %d: value %d of %d bytes is stored, %d was being stored", round, got, len(value), begun)
		}
		if got != last {
			moved++
		}
		last = got
	}
	t.Logf("%d kills, %d times another value than before", rounds, moved)
}
