package checks

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
)

// opensFile reports why a file could not be opened for writing or made. It
// changes nothing.
func opensFile(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return writableDirectory(filepath.Dir(path))
	case err == nil && info.IsDir():
		err = errDirectory
	case err == nil:
		err = writable(path)
	}
	return placed(path, err)
}

// makesDirectory reports why a directory could not be used or made, with all that
// leads to it.
func makesDirectory(path string) error {
	_, err := os.Stat(path)
	for errors.Is(err, fs.ErrNotExist) && path != filepath.Dir(path) {
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
		err = writable(path)
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
