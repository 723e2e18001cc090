package state

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// killed makes a directory as a process leaves it that is killed behind n rows, and
// returns the path of its newest log.
func killed(t *testing.T, n int) (dir, name string) {
	t.Helper()
	live := t.TempDir()
	s := openHere(t, live)
	for i := range n {
		put(t, s, fmt.Appendf(nil, "r/rows/%03d", i), bytes.Repeat([]byte{byte(i + 1)}, 100*(i+1)))
	}
	if err := s.sync(); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(live)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	logs, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil || len(logs) != 1 {
		t.Fatalf("got logs %q, %v, want one", logs, err)
	}
	return dir, logs[0]
}

func TestALogThatLosesEntriesIsToldOf(t *testing.T) {
	const rows = 20
	ends := func(data []byte) (list []int) { // of the whole entries
		for at := memHeader; ; {
			n, whole := memEntry(data[at:])
			if !whole {
				return list
			}
			at += n
			list = append(list, at)
		}
	}
	for _, tc := range []struct {
		name  string
		alter func(data []byte) []byte
		told  bool
		rows  int // left, -1: not looked at
	}{
		{"nothing is wrong", func(d []byte) []byte { return d }, false, rows},
		{"a bit of the first entry is another", func(d []byte) []byte { d[memHeader+10] ^= 1; return d }, true, 0},
		{"a length in the first entry is another", func(d []byte) []byte { d[memHeader+2] ^= 0x7f; return d }, true, 0},
		{"a value in the middle is another", func(d []byte) []byte { d[ends(d)[9]+20] ^= 0x80; return d }, true, -1},
		{"a block in the middle is zero", func(d []byte) []byte { clear(d[ends(d)[9] : ends(d)[9]+64]); return d }, true, -1},
		{"a byte of the last entry is another", func(d []byte) []byte {
			e := ends(d)
			d[e[len(e)-2]+8] ^= 1
			return d
		}, true, -1},
		{"the file is cut within an entry", func(d []byte) []byte { return d[:ends(d)[9]+30] }, true, -1},
		{"the last write was cut short", func(d []byte) []byte {
			e := ends(d)
			from := e[len(e)-3] // the row's entry, and the one that ends its transaction
			clear(d[from+40:])
			return d
		}, false, -1},
		{"the last write has not begun", func(d []byte) []byte {
			e := ends(d)
			clear(d[e[len(e)-3]:])
			return d
		}, false, -1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir, name := killed(t, rows)
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, tc.alter(data), 0o600); err != nil {
				t.Fatal(err)
			}
			var log bytes.Buffer
			s, err := Open(dir, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			if told := strings.Contains(log.String(), "state log is damaged"); told != tc.told {
				t.Errorf("a warning: %t, want %t\n%s", told, tc.told, log.String())
			}
			left := 0
			if err := s.Table("rows").Each(func(_, _ []byte) bool { left++; return true }); err != nil {
				t.Fatal(err)
			}
			if tc.rows >= 0 && left != tc.rows {
				t.Errorf("%d rows are left, want %d", left, tc.rows)
			}
			if kept, _ := filepath.Glob(filepath.Join(dir, aside, "*.mem")); len(kept) == 1 != tc.told {
				t.Errorf("copies %q, want one when something is lost", kept)
			}
		})
	}
}

// What a log holds may look like entries.
func TestAValueThatHoldsEntriesIsNotTakenForThem(t *testing.T) {
	entry := func(key, value string) []byte {
		b := []byte{0, 0}
		b = binary.AppendUvarint(b, uint64(len(key)))
		b = binary.AppendUvarint(b, uint64(len(value)))
		b = append(append(append(b, 0), key...), value...)
		return binary.BigEndian.AppendUint32(b, checksum(b))
	}
	inner := entry("k", "v")
	log := append(make([]byte, memHeader), entry("key", string(inner))...)
	if _, damaged := memDamage(append(log, make([]byte, 100)...)); damaged {
		t.Error("a whole log counts as damaged")
	}
	log = append(log, 0, 0, 9)
	if _, damaged := memDamage(append(log, make([]byte, 100)...)); damaged {
		t.Error("a write that was cut short in its first bytes counts as damage")
	}
}

// badger warns every minute of caches that hit seldom.
func TestThereIsNoCacheToWarnOf(t *testing.T) {
	s := openHere(t, t.TempDir())
	defer s.Close()
	if s.db.BlockCacheMetrics() != nil || s.db.IndexCacheMetrics() != nil {
		t.Error("badger has caches, and warns of them in normal work")
	}
}
