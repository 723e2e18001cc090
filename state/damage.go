package state

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/dgraph-io/badger/v4"
	"github.com/dgraph-io/badger/v4/table"
)

// ErrDamaged is wrapped by Open when the files of a directory are not what a
// store leaves behind. SetAside makes room for a new one.
var ErrDamaged = errors.New("state directory is damaged")

// aside is where SetAside moves files, below the directory.
const aside = "damaged"

// SetAside moves the files of a store that cannot be opened into a directory
// below it, whose name it returns. What stood there before is removed; files that
// are not of a store stay. The error wraps ErrLocked when the store is in use.
func SetAside(dir string) (to string, err error) {
	release, err := hold(dir)
	if err != nil {
		return "", err
	}
	defer release()
	to = filepath.Join(dir, aside)
	entries, err := os.ReadDir(dir)
	if err == nil {
		err = os.RemoveAll(to)
	}
	if err == nil {
		err = os.Mkdir(to, 0o700)
	}
	for _, e := range entries {
		if err == nil && ours(e) {
			err = os.Rename(filepath.Join(dir, e.Name()), filepath.Join(to, e.Name()))
		}
	}
	if err != nil {
		return "", fmt.Errorf("set damaged state aside: %w", err)
	}
	return to, nil
}

// ours reports whether a file is one that badger makes.
func ours(e fs.DirEntry) bool {
	switch filepath.Ext(e.Name()) {
	case ".sst", ".vlog", ".mem":
		return e.Type().IsRegular()
	}
	return e.Type().IsRegular() && slices.Contains([]string{badger.ManifestFilename, badger.KeyRegistryFileName, "DISCARD", "LOCK"}, e.Name())
}

// examine looks at what badger panics over when it is damaged: the list of tables,
// and every block of the tables. It warns of what badger would drop in silence.
func examine(dir string, o badger.Options, log *slog.Logger) error {
	release, err := hold(dir)
	if err != nil {
		return err
	}
	defer release()
	if err := tellLosses(dir, log); err != nil {
		return err
	}
	f, err := os.Open(filepath.Join(dir, badger.ManifestFilename))
	if errors.Is(err, fs.ErrNotExist) {
		return examineUnlisted(dir)
	}
	if err != nil {
		return err
	}
	defer f.Close()
	m, _, err := badger.ReplayManifestFile(f, o.ExternalMagicVersion, o)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	for id, t := range m.Tables { // each was written as the options of its time said
		if err := examineTable(dir, id, o.WithCompression(t.Compression)); err != nil {
			return err
		}
	}
	return nil
}

// examineUnlisted refuses tables that no list names: badger would remove them.
func examineUnlisted(dir string) error {
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err == nil && len(tables) > 0 {
		return fmt.Errorf("%w: %s is missing", ErrDamaged, badger.ManifestFilename)
	}
	return err
}

func examineTable(dir string, id uint64, o badger.Options) (err error) {
	name := table.IDToFilename(id)
	data, err := os.ReadFile(filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s is missing", ErrDamaged, name)
	}
	if err != nil {
		return err
	}
	defer func() {
		if recover() != nil {
			err = fmt.Errorf("%w: %s cannot be read", ErrDamaged, name)
		}
	}()
	t, err := table.OpenInMemoryTable(data, id, &table.Options{Compression: o.Compression, BlockSize: o.BlockSize})
	if err == nil {
		err = t.VerifyChecksum()
	}
	if err != nil {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, name, err)
	}
	return nil
}

// scarce reports whether err speaks of what the system lacks or forbids, which
// says nothing about the files. badger does not wrap causes, so their text tells.
func scarce(err error) bool {
	return slices.ContainsFunc([]error{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.EACCES, syscall.EPERM, syscall.EROFS,
		syscall.EIO, syscall.ENOSPC, syscall.EDQUOT, syscall.EBUSY, syscall.ESTALE, syscall.ENOTDIR,
	}, func(cause error) bool { return strings.Contains(err.Error(), cause.Error()) })
}
