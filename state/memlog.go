package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
)

// badger appends what was written last to files ending in .mem. When it opens them
// after a crash it takes the entries up to the first that is not whole, which is
// right for a write that was cut short, and drops what follows without a word.

const (
	memHeader = 20   // of a file, in front of the entries
	maxKey    = 1024 // of an entry, in bytes: ours are far shorter
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// tellLosses warns of logs of which badger will drop whole entries, and keeps copies
// of them beside what is set aside.
func tellLosses(dir string, log *slog.Logger) error {
	names, err := filepath.Glob(filepath.Join(dir, "*.mem"))
	if err != nil {
		return err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		at, damaged := memDamage(data)
		if !damaged {
			continue
		}
		attrs := []any{"path", name, "offset", at}
		if kept, err := keepCopy(dir, filepath.Base(name), data); err != nil {
			attrs = append(attrs, "err", err)
		} else {
			attrs = append(attrs, "copy", kept)
		}
		log.Warn("state log is damaged: what was written behind the damage is lost", attrs...)
	}
	return nil
}

// keepCopy writes a file into the directory for damaged ones.
func keepCopy(dir, name string, data []byte) (string, error) {
	to := filepath.Join(dir, aside, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return "", fmt.Errorf("keep damaged log: %w", err)
	}
	return to, os.WriteFile(to, bytes.TrimRight(data, "\x00"), 0o600)
}

// memDamage returns where the whole entries at the beginning of a log end, and
// whether something is wrong there: it does not look like a write that was cut short.
func memDamage(data []byte) (at int, damaged bool) {
	if len(data) < memHeader {
		return 0, len(bytes.Trim(data, "\x00")) > 0
	}
	for at = memHeader; ; {
		n, whole := memEntry(data[at:])
		if !whole {
			break
		}
		at += n
	}
	rest := bytes.TrimRight(data[at:], "\x00")
	if len(rest) == 0 {
		return at, false
	}
	// All bytes of an entry are there, or the file ends in it.
	if n, _ := memEntry(data[at:]); n > 0 && (n == len(rest) || n > len(data)-at) {
		return at, true
	}
	for i := 1; i < len(rest); i++ { // a cut write has nothing behind it
		if _, whole := memEntry(rest[i:]); whole {
			return at, true
		}
	}
	return at, false
}

// memEntry reads the entry at the beginning of b. It returns its size, 0 when there
// is none, and whether all of it is there and as it was written.
func memEntry(b []byte) (size int, whole bool) {
	const fixed = 2 // bytes in front of the lengths
	if len(b) < fixed {
		return 0, false
	}
	at := fixed
	var fields [3]uint64 // length of the key, length of the value, time of expiry
	for i := range fields {
		v, n := binary.Uvarint(b[at:])
		if n <= 0 {
			return 0, false
		}
		fields[i] = v
		at += n
	}
	key, value := fields[0], fields[1]
	if b[1] != 0 || key == 0 || key > maxKey || value > 1<<30 || fields[2] != 0 {
		return 0, false
	}
	end := at + int(key) + int(value)
	size = end + crc32.Size
	if size > len(b) {
		return size, false
	}
	return size, binary.BigEndian.Uint32(b[end:]) == checksum(b[:end])
}

func checksum(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }
