package strict

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
)

// MaxFile bounds the size of a file.
const MaxFile = 16 << 20

// Fault is one thing that is wrong in a file.
type Fault struct {
	Line int    // 0 when unknown
	Key  string // of the setting whose value is refused; empty for other faults
	Err  error  // perhaps a *suggest.Error within
}

// Error is the message without the line.
func (f Fault) Error() string { return f.Err.Error() }

// Unwrap gives the error.
func (f Fault) Unwrap() error { return f.Err }

// Files lists the files that a path names: the path itself, or of a directory what lies
// directly in it and ends in .yml or .yaml, by name. Hidden files are left out.
func Files(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, withoutPath(err)
	}
	var names []string
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		if ext := filepath.Ext(name); ext != ".yml" && ext != ".yaml" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if info, err := os.Stat(name); err != nil || !info.IsDir() { // a broken link is told when it is read
			names = append(names, name)
		}
	}
	return names, nil
}

// ReadFile returns the one document of a file, of kind Null if the file is empty. An
// error that is no Fault is about the file as a whole; it does not name it.
func ReadFile(name string) (*document.Node, error) {
	data, err := Bytes(name)
	if err != nil {
		return nil, err
	}
	return Read(data)
}

// Bytes returns the content of a regular file of at most MaxFile bytes. Its error does not
// name it.
func Bytes(name string) ([]byte, error) {
	f, err := os.OpenFile(name, openFlags, 0)
	if err != nil {
		return nil, withoutPath(err)
	}
	defer f.Close()
	switch info, err := f.Stat(); {
	case err != nil:
		return nil, withoutPath(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("it is no regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	switch {
	case err != nil:
		return nil, withoutPath(err)
	case len(data) > MaxFile:
		return nil, fmt.Errorf("it is larger than %d MiB", MaxFile>>20)
	}
	return data, nil
}

// Read returns the one document of a file, of kind Null if the file is empty. The error
// is a Fault.
func Read(data []byte) (*document.Node, error) {
	docs, fault := document.Read(data)
	if fault != nil {
		return nil, Fault{Line: fault.Line, Err: errors.New(fault.Detail)}
	}
	var root *document.Node
	for _, d := range docs {
		switch {
		case d.Err != nil:
			return nil, Fault{Line: d.Line, Err: d.Err}
		case d.Root.Kind == document.Null:
		case root != nil:
			return nil, Fault{Line: d.Root.Line, Err: errors.New("a second document: one file has one document")}
		default:
			root = d.Root
		}
	}
	if root == nil {
		root = &document.Node{}
	}
	return root, nil
}

// withoutPath is an error of package os without the path, which the caller tells.
func withoutPath(err error) error {
	var fault *os.PathError
	if errors.As(err, &fault) {
		return fault.Err
	}
	return err
}
