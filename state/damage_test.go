package state

import (
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"
)

func openHere(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t *testing.T, s *Store, key, value []byte) {
	t.Helper()
	if err := s.db.Update(func(txn *badger.Txn) error { return txn.Set(key, value) }); err != nil {
		t.Fatal(err)
	}
}

func TestDamageIsFoundBeforeAnythingIsRead(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(t *testing.T, s *Store, series *Series)
		want   error
	}{
		{"a changed chunk", func(t *testing.T, s *Store, series *Series) {
			t.Helper()
			put(t, s, series.chunkKey(1, "part", 1), []byte("other bytes"))
		}, ErrCorrupt},
		{"a missing chunk", func(t *testing.T, s *Store, series *Series) {
			t.Helper()
			if err := s.db.Update(func(txn *badger.Txn) error { return txn.Delete(series.chunkKey(1, "part", 2)) }); err != nil {
				t.Fatal(err)
			}
		}, ErrCorrupt},
		{"a head that is no JSON", func(t *testing.T, s *Store, series *Series) {
			t.Helper()
			put(t, s, series.headKey(), []byte("{"))
		}, ErrCorrupt},
		{"a head of another version", func(t *testing.T, s *Store, series *Series) {
			t.Helper()
			put(t, s, series.headKey(), []byte(`{"version":2,"parts":{}}`))
		}, ErrVersion},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := openHere(t, t.TempDir())
			defer s.Close()
			series := s.Series("save")
			v, err := series.Begin()
			if err != nil {
				t.Fatal(err)
			}
			if err := v.Write("part", 1, func(w io.Writer) error {
				_, err := w.Write(make([]byte, 3*chunkBytes-5))
				return err
			}); err != nil {
				t.Fatal(err)
			}
			if err := v.Commit(1, nil); err != nil {
				t.Fatal(err)
			}
			tc.damage(t, s, series)
			called := false
			err = series.Read("part", func(int, io.Reader) error { called = true; return nil })
			if !errors.Is(err, tc.want) || called {
				t.Errorf("read: %v (called %v), want %v and no call", err, called, tc.want)
			}
			if v, err = series.Begin(); err != nil {
				t.Fatalf("a damaged store takes no save: %v", err)
			}
			if err := v.Commit(2, nil); err != nil {
				t.Errorf("commit over damage: %v", err)
			}
		})
	}
}

func TestAQuarantinedPartOutlivesTheNextSaves(t *testing.T) {
	s := openHere(t, t.TempDir())
	defer s.Close()
	series := s.Series("save")
	for _, text := range []string{"unusable", "next", "after"} {
		v, err := series.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Write("part", 1, func(w io.Writer) error { _, err := io.WriteString(w, text); return err }); err != nil {
			t.Fatal(err)
		}
		if err := v.Commit(1, nil); err != nil {
			t.Fatal(err)
		}
		if text == "unusable" {
			if err := series.Quarantine("part"); err != nil {
				t.Fatal(err)
			}
		}
	}
	got, err := s.get(series.quarantineKey("part", 0))
	if err != nil || string(got) != "unusable" {
		t.Errorf("quarantined chunk = %q, %v, want %q", got, err, "unusable")
	}
}

func TestALogFileThatWasNotFinishedIsNoDamage(t *testing.T) {
	dir := t.TempDir()
	s := openHere(t, dir)
	v, err := s.Series("save").Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Commit(7, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"00099.mem", "000099.vlog"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		s := openHere(t, dir)
		h, err := s.Series("save").Head()
		if err != nil || h.SavedAt != 7 {
			t.Errorf("%s: head = %+v, %v, want the save of 7", name, h, err)
		}
		if err := s.Table("rows").Put([]byte("k"), []byte("v")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Case 56 of part 23: a full disk fails saves and nothing else.
func TestAFullDiskFailsTheSaveAndNotTheNextOne(t *testing.T) {
	s := openHere(t, t.TempDir())
	defer s.Close()
	series := s.Series("save")
	free := int64(1 << 40)
	s.free = func(string) (int64, error) { return free, nil }
	save := func(text string) error {
		v, err := series.Begin()
		if err != nil {
			return err
		}
		err = v.Write("part", 1, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		if err == nil {
			err = v.Commit(1, nil)
		}
		if err != nil {
			return errors.Join(err, v.Discard())
		}
		return nil
	}
	part := func() (text string) {
		if err := series.Read("part", func(_ int, r io.Reader) error {
			b, err := io.ReadAll(r)
			text = string(b)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return text
	}
	if err := save("before"); err != nil {
		t.Fatal(err)
	}
	free = spareBytes / 2
	for range 3 {
		if err := save("full"); !errors.Is(err, ErrSpace) {
			t.Errorf("save on a full disk: %v, want ErrSpace", err)
		}
	}
	if err := s.Table("rows").Put([]byte("k"), []byte("v")); !errors.Is(err, ErrSpace) {
		t.Errorf("row on a full disk: %v, want ErrSpace", err)
	}
	if err := s.Close(); !errors.Is(err, ErrSpace) {
		t.Errorf("closing on a full disk: %v, want ErrSpace", err)
	}
	if got := part(); got != "before" {
		t.Errorf("part = %q, want %q", got, "before")
	}
	free = 1 << 40
	if err := save("after"); err != nil {
		t.Errorf("save once there is room: %v", err)
	}
	if got := part(); got != "after" {
		t.Errorf("part = %q, want %q", got, "after")
	}
}

// A thousand saves of changing state keep the directory below three times the
// live size plus 64 MiB.
func TestTheDirectoryDoesNotGrowWithTheNumberOfSaves(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := openHere(t, dir)
	defer s.Close()
	s.sync = func() error { return nil } // what is durable when does not change how much there is
	series := s.Series("save")
	const live = 128 << 10
	random := rand.NewChaCha8([32]byte{1})
	state := make([]byte, live)
	var worst int64
	for i := range 1000 {
		_, _ = random.Read(state)
		v, err := series.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Write("part", 1, func(w io.Writer) error { _, err := w.Write(state); return err }); err != nil {
			t.Fatal(err)
		}
		if err := v.Commit(int64(i), nil); err != nil {
			t.Fatal(err)
		}
		if i%20 == 19 {
			worst = max(worst, size(t, dir))
		}
	}
	if limit := int64(3*live + 64<<20); worst > limit {
		t.Errorf("directory took up to %d bytes, want at most %d", worst, limit)
	}
	t.Logf("at most %d KiB for %d KiB of state", worst>>10, live>>10)
}

func size(t *testing.T, dir string) int64 {
	t.Helper()
	var n int64
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if info, err := e.Info(); err == nil { // a table may go while we look
			n += info.Size()
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return n
}
