package disk

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
)

// Replace writes a file as a whole: whoever reads it, even after a power failure, finds the
// old content or the new one. The file has the mode, whatever it had before. The directory
// is on the disk, too, when it returns.
func Replace(path string, content []byte, mode os.FileMode) (err error) {
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if fault := new(os.PathError); errors.As(err, &fault) {
		return &os.PathError{Op: fault.Op, Path: path, Err: fault.Err} // nobody knows the other name
	}
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(content)
	if err == nil {
		err = errors.Join(f.Chmod(mode), f.Sync())
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return SyncDirectory(dir)
}

// SyncDirectory returns when what was made, renamed and removed in a directory is on the
// disk. Windows has nothing of the kind.
func SyncDirectory(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// MakeDirectory makes a directory with all that leads to it, unless it is there, and returns
// when they are on the disk.
func MakeDirectory(path string, mode os.FileMode) error {
	path = filepath.Clean(path)
	var above []string // directories that get a new entry
	for dir := path; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil || dir == filepath.Dir(dir) {
			break
		}
		above = append(above, filepath.Dir(dir))
	}
	if err := os.MkdirAll(path, mode); err != nil {
		return err
	}
	for _, dir := range above {
		if err := SyncDirectory(dir); err != nil {
			return err
		}
	}
	return nil
}
