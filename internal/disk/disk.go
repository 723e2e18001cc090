// Package disk says whether a start could write where it is told to, without writing, and
// replaces files as a whole.
package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

var (
	errDirectory   = errors.New("is a directory")
	errNoDirectory = errors.New("is no directory")
	errDangling    = errors.New("is a symlink to nothing")
)

// CheckFile reports why a file could not be opened for writing or made. It
// changes nothing. A symlink to a file that does not exist yet is followed.
func CheckFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if target, err := os.Readlink(path); err == nil {
			if !filepath.IsAbs(target) {
				target = filepath.Join(filepath.Dir(path), target)
			}
			return CheckFile(target)
		}
		return writableDirectory(filepath.Dir(path))
	case err == nil && info.IsDir():
		err = errDirectory
	case err == nil:
		err = writable(path)
	}
	return placed(path, err)
}

// CheckDirectory reports why a directory could not be used or made, with all that
// leads to it.
func CheckDirectory(path string) error {
	_, err := os.Stat(path)
	for errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
		if _, err := os.Lstat(path); err == nil {
			return placed(path, errDangling)
		}
		path = filepath.Dir(path)
		_, err = os.Stat(path)
	}
	return writableDirectory(path)
}

func writableDirectory(path string) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && !info.IsDir():
		err = errNoDirectory
	case err == nil:
		if err = writable(path); err == nil {
			err = holdsFiles(path)
		}
	}
	return placed(path, err)
}

// placed names the path in an error that does not.
func placed(path string, err error) error {
	var named *fs.PathError
	if err == nil || errors.As(err, &named) {
		return err
	}
	return fmt.Errorf("%s: %w", path, err)
}
