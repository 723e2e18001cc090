package file

import (
	"os"
	"path/filepath"
)

// Place is where a file sink writes, so that two of them can be told apart.
type Place struct {
	path string
	info os.FileInfo // nil before the file exists
}

// PlaceOf is the place that a path leads to, nil for a device: devices may be shared, since
// nothing can be torn there.
func PlaceOf(path string) (*Place, error) {
	path, err := resolve(path, maxLinks)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return &Place{path: path}, nil //nolint:nilerr // it does not exist yet, or opening it tells
	case info.Mode()&os.ModeDevice != 0:
		return nil, nil //nolint:nilnil // a device is no place of one sink
	}
	return &Place{path, info}, nil
}

// Is reports whether two places are one file.
func (p *Place) Is(other *Place) bool {
	return p.path == other.path || p.info != nil && other.info != nil && os.SameFile(p.info, other.info)
}

// maxLinks is how many links to files that do not exist yet are followed, one
// after another.
const maxLinks = 16

// resolve follows symbolic links, also to a file that does not exist yet.
func resolve(path string, links int) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real, nil
	}
	dir, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path, nil //nolint:nilerr // opening it tells what is wrong
	}
	path = filepath.Join(dir, filepath.Base(path))
	to, err := os.Readlink(path)
	if err != nil || links == 0 {
		return path, nil //nolint:nilerr // no link
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	return resolve(to, links-1)
}
