package state

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/options"

	"github.com/sluicehq/sluice/internal/sigmatest"
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
			if err := v.Commit(1); err != nil {
				t.Fatal(err)
			}
			tc.damage(t, s, series)
			called := false
			err = series.Read("part", func(int, io.Reader) error { called = true; return nil })
			if !errors.Is(err, tc.want) || called {
				t.Errorf("read: %v (called %v), want %v and no call", err, called, tc.want)
			}
			if content, _, err := series.Whole("part"); !errors.Is(err, tc.want) || content != "" {
				t.Errorf("read whole: %v and %d bytes, want %v and none", err, len(content), tc.want)
			}
			if v, err = series.Begin(); err != nil {
				t.Fatalf("a damaged store takes no save: %v", err)
			}
			if err := v.Commit(2); err != nil {
				t.Errorf("commit over damage: %v", err)
			}
		})
	}
}

// tableOf returns the name of a table of a closed store.
func tableOf(t *testing.T, dir string) string {
	t.Helper()
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatalf("tables %v, %v, want one at least", tables, err)
	}
	return tables[0]
}

func TestADirectoryThatCannotBeOpenedIsSetAside(t *testing.T) {
	write := func(name, content string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cut := func(size int64) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Truncate(tableOf(t, dir), size); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tc := range []struct {
		name   string
		damage func(t *testing.T, dir string)
	}{
		{"a table is cut short", cut(200)},
		{"a table is empty", cut(0)},
		{"a table is missing", func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(tableOf(t, dir)); err != nil {
				t.Fatal(err)
			}
		}},
		{"a table has other bytes at its end", func(t *testing.T, dir string) {
			t.Helper()
			f, err := os.OpenFile(tableOf(t, dir), os.O_APPEND|os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteString("\x7f\x7f\x7f\x7f"); err != nil {
				t.Fatal(err)
			}
		}},
		{"a table has other bytes in the middle", func(t *testing.T, dir string) {
			t.Helper()
			f, err := os.OpenFile(tableOf(t, dir), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if _, err := f.WriteAt([]byte("\x7f\x7f\x7f\x7f"), 40); err != nil {
				t.Fatal(err)
			}
		}},
		{"the list of tables is no list", write(badger.ManifestFilename, "garbage")},
		{"the list of tables is missing", func(t *testing.T, dir string) {
			t.Helper()
			if err := os.Remove(filepath.Join(dir, badger.ManifestFilename)); err != nil {
				t.Fatal(err)
			}
		}},
		{"the keys are no keys", write(badger.KeyRegistryFileName, "xx")},
		{"a value log is none", write("000001.vlog", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			save := func(s *Store, at int64) {
				t.Helper()
				v, err := s.Series("save").Begin()
				if err == nil {
					err = v.Write("part", 1, func(w io.Writer) error { _, err := io.WriteString(w, "content"); return err })
				}
				if err == nil {
					err = errors.Join(v.Commit(at), s.Close())
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			save(openHere(t, dir), 1)
			write("notes.txt", "of the operator")(t, dir)
			for range 2 { // what was set aside is replaced
				tc.damage(t, dir)
				if _, err := Open(dir, slog.New(slog.DiscardHandler)); !errors.Is(err, ErrDamaged) {
					t.Fatalf("open: %v, want ErrDamaged", err)
				}
				to, err := SetAside(dir)
				if err != nil {
					t.Fatal(err)
				}
				if files, err := os.ReadDir(to); err != nil || len(files) == 0 {
					t.Errorf("%d files are aside, %v, want those of the store", len(files), err)
				}
				s := openHere(t, dir)
				if _, err := s.Series("save").Head(); !errors.Is(err, ErrNone) {
					t.Errorf("head: %v, want ErrNone", err)
				}
				save(s, 2)
			}
			s := openHere(t, dir)
			defer s.Close()
			if h, err := s.Series("save").Head(); err != nil || h.SavedAt != 2 {
				t.Errorf("head: %+v, %v, want the save of 2", h, err)
			}
			if _, err := os.Stat(filepath.Join(dir, "notes.txt")); err != nil {
				t.Errorf("a file that is not of the store: %v", err)
			}
		})
	}
}

func TestADirectoryInUseIsNotTakenForDamaged(t *testing.T) {
	dir := t.TempDir()
	s := openHere(t, dir)
	defer s.Close()
	if err := os.WriteFile(filepath.Join(dir, badger.ManifestFilename), []byte("half written"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, slog.New(slog.DiscardHandler)); !errors.Is(err, ErrLocked) {
		t.Errorf("open: %v, want ErrLocked", err)
	}
	if _, err := SetAside(dir); !errors.Is(err, ErrLocked) {
		t.Errorf("set aside: %v, want ErrLocked", err)
	}
}

func TestWhatTheSystemLacksIsNoDamage(t *testing.T) {
	for text, want := range map[string]bool{
		"open /x/000001.vlog: too many open files": true, "mkdir: permission denied": true, "no space left on device": true,
		"manifest has bad magic": false, "Error while reading sanity text. err: EOF": false,
	} {
		if got := scarce(errors.New(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
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
		if err := v.Commit(1); err != nil {
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
	if err := v.Commit(7); err != nil {
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

// A full disk fails saves and nothing else.
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
			err = v.Commit(1)
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
	for i := range sigmatest.Rounds(1000) {
		_, _ = random.Read(state)
		v, err := series.Begin()
		if err != nil {
			t.Fatal(err)
		}
		if err := v.Write("part", 1, func(w io.Writer) error { _, err := w.Write(state); return err }); err != nil {
			t.Fatal(err)
		}
		if err := v.Commit(int64(i)); err != nil {
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

func TestTablesWrittenUnderOtherOptionsAreNoDamage(t *testing.T) {
	dir := t.TempDir()
	db, err := badger.Open(badger.DefaultOptions(dir).WithLogger(nil).WithCompression(options.Snappy))
	if err != nil {
		t.Fatal(err)
	}
	key, value := []byte("key"), bytes.Repeat([]byte("value "), 1000)
	if err := db.Update(func(txn *badger.Txn) error { return txn.Set(key, value) }); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if tables, err := filepath.Glob(filepath.Join(dir, "*.sst")); err != nil || len(tables) == 0 {
		t.Fatalf("%d tables, %v, want some", len(tables), err)
	}
	s := openHere(t, dir)
	defer s.Close()
	err = s.db.View(func(txn *badger.Txn) error {
		item, err := txn.Get(key)
		if err != nil {
			return err
		}
		got, err := item.ValueCopy(nil)
		if !bytes.Equal(got, value) {
			t.Errorf("%d bytes came back, want %d", len(got), len(value))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
