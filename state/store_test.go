package state_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/sluicehq/sluice/state"
)

func open(t *testing.T, dir string) *state.Store {
	t.Helper()
	s, err := state.Open(dir, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return s
}

func write(b []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	}
}

func save(t *testing.T, s *state.Series, at int64, parts map[string][]byte) {
	t.Helper()
	v, err := s.Begin()
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	for name, content := range parts {
		if err := v.Write(name, 1, write(content)); err != nil {
			t.Fatalf("write %s: %v", name, err)
		}
	}
	if err := v.Commit(at); err != nil {
		t.Fatalf("commit: %v", err)
	}
}

func content(t *testing.T, s *state.Series, part string) []byte {
	t.Helper()
	var out []byte
	err := s.Read(part, func(_ int, r io.Reader) (err error) {
		out, err = io.ReadAll(r)
		return err
	})
	if err != nil {
		t.Fatalf("read %s: %v", part, err)
	}
	if whole, _, err := s.Whole(part); err != nil || whole != string(out) {
		t.Fatalf("read %s whole: %d bytes, %v, want %d", part, len(whole), err, len(out))
	}
	return out
}

func noise(seed uint64, n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8)})
	_, _ = r.Read(b)
	return b
}

func TestASaveCountsFromItsHeadOn(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir)
	s := st.Series("save")
	if _, err := s.Head(); !errors.Is(err, state.ErrNone) {
		t.Fatalf("head of an empty store: %v, want ErrNone", err)
	}
	first := noise(1, 700<<10)
	save(t, s, 100, map[string][]byte{"correlation": first, "risk": []byte("r1")})

	v, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Write("correlation", 1, write([]byte("never committed"))); err != nil {
		t.Fatal(err)
	}
	if got := content(t, s, "correlation"); !bytes.Equal(got, first) {
		t.Errorf("before commit the part has %d bytes, want the %d of the save before", len(got), len(first))
	}
	if err := st.Close(); err != nil { // a crash, as far as the save is concerned
		t.Fatal(err)
	}

	st = open(t, dir)
	defer st.Close()
	s = st.Series("save")
	if got := content(t, s, "correlation"); !bytes.Equal(got, first) {
		t.Errorf("after reopening the part has %d bytes, want %d", len(got), len(first))
	}
	v, err = s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Write("correlation", 2, write([]byte("second"))); err != nil {
		t.Fatal(err)
	}
	if !v.Keep("risk") || v.Keep("alert") {
		t.Error("Keep knows risk and no alert, want exactly that")
	}
	if err := v.Commit(200, state.Position{Sequence: 7, Time: 199}); err != nil {
		t.Fatal(err)
	}
	h, err := s.Head()
	if err != nil || h.SavedAt != 200 || h.Position == nil || h.Position.Sequence != 7 || len(h.Parts) != 2 {
		t.Errorf("head = %+v, %v", h, err)
	}
	if h.Parts["risk"].Generation >= h.Parts["correlation"].Generation {
		t.Errorf("kept part has generation %d, written part %d: want the older one kept", h.Parts["risk"].Generation, h.Parts["correlation"].Generation)
	}
	if got := string(content(t, s, "correlation")) + string(content(t, s, "risk")); got != "secondr1" {
		t.Errorf("parts = %q, want %q", got, "secondr1")
	}
}

func TestSeriesDoNotTouchEachOther(t *testing.T) {
	st := open(t, t.TempDir())
	defer st.Close()
	save(t, st.Series("save"), 1, map[string][]byte{"a": []byte("state")})
	for i := range 5 {
		save(t, st.Series("rules"), int64(i), map[string][]byte{"a": []byte("rules")})
	}
	if got := content(t, st.Series("save"), "a"); string(got) != "state" {
		t.Errorf("part = %q, want %q", got, "state")
	}
}

func TestADirectoryHasOneOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	st := open(t, dir)
	defer st.Close()
	if _, err := state.Open(dir, slog.New(slog.DiscardHandler)); !errors.Is(err, state.ErrLocked) {
		t.Errorf("second open: %v, want ErrLocked", err)
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("mode = %v, %v, want 0700", info.Mode(), err)
	}
}

func TestAPartOfAnotherVersionIsHandedOverWithItsVersion(t *testing.T) {
	st := open(t, t.TempDir())
	defer st.Close()
	s := st.Series("save")
	v, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Write("correlation", 9, write(nil)); err != nil {
		t.Fatal(err)
	}
	if err := v.Commit(1); err != nil {
		t.Fatal(err)
	}
	got := 0
	err = s.Read("correlation", func(version int, _ io.Reader) error { got = version; return nil })
	if err != nil || got != 9 {
		t.Errorf("version = %d, %v, want 9", got, err)
	}
	if err := s.Read("risk", func(int, io.Reader) error { return nil }); !errors.Is(err, state.ErrNone) {
		t.Errorf("missing part: %v, want ErrNone", err)
	}
}

func TestAClosedStoreRefuses(t *testing.T) {
	st := open(t, t.TempDir())
	save(t, st.Series("save"), 1, map[string][]byte{"a": []byte("x")})
	for range 2 {
		if err := st.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	}
	if err := st.Table("rows").Put([]byte("k"), []byte("v")); err == nil {
		t.Error("a row was put into a closed store")
	}
}

func TestAFailedWriteLeavesTheSaveBeforeCurrent(t *testing.T) {
	st := open(t, t.TempDir())
	defer st.Close()
	s := st.Series("save")
	save(t, s, 1, map[string][]byte{"a": []byte("good")})
	v, err := s.Begin()
	if err != nil {
		t.Fatal(err)
	}
	boom := errors.New("disk full")
	err = v.Write("a", 1, func(w io.Writer) error {
		if _, err := w.Write(noise(3, 600<<10)); err != nil {
			return err
		}
		return boom
	})
	if !errors.Is(err, boom) {
		t.Fatalf("write: %v, want %v", err, boom)
	}
	if err := v.Discard(); err != nil {
		t.Fatal(err)
	}
	if got := content(t, s, "a"); string(got) != "good" {
		t.Errorf("part = %q, want %q", got, "good")
	}
}

func TestRowsComeBackInKeyOrder(t *testing.T) {
	dir := t.TempDir()
	st := open(t, dir)
	rows := st.Table("audit")
	for _, i := range []int{3, 1, 2} {
		if err := rows.Put(fmt.Appendf(nil, "%04d", i), fmt.Append(nil, i)); err != nil {
			t.Fatal(err)
		}
	}
	if err := st.Table("auditor").Put([]byte("0000"), []byte("another table")); err != nil {
		t.Fatal(err)
	}
	if err := rows.Delete([]byte("0002")); err != nil {
		t.Fatal(err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	st = open(t, dir)
	defer st.Close()
	var got []string
	err := st.Table("audit").Each(func(k, v []byte) bool {
		got = append(got, string(k)+"="+string(v))
		return true
	})
	if want := "[0001=1 0003=3]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("rows = %v, %v, want %s", got, err, want)
	}
	if _, err := st.Table("audit").Get([]byte("0002")); !errors.Is(err, state.ErrNone) {
		t.Errorf("deleted row: %v, want ErrNone", err)
	}
}
