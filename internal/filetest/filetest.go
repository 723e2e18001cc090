// Package filetest gives a test a file whose content changes and whose place stays. To make
// a directory and a file costs a hundred times as much, so a fuzz test that needs a file at
// each execution does that once.
package filetest

import (
	"os"
	"path/filepath"
	"testing"
)

// File is a file of a test. It is gone when the test, or the fuzz test, has ended.
type File struct {
	Path string
	open *os.File
}

// New makes an empty file in a directory of its own.
func New(tb testing.TB, name string) *File {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), name)
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = f.Close() })
	return &File{path, f}
}

// Hold gives the file another content. It is written over what the file holds: a file that
// is cut to nothing first would go to the disk at once on some systems.
func (f *File) Hold(tb testing.TB, content []byte) {
	tb.Helper()
	if _, err := f.open.WriteAt(content, 0); err != nil {
		tb.Fatal(err)
	}
	if err := f.open.Truncate(int64(len(content))); err != nil {
		tb.Fatal(err)
	}
}
