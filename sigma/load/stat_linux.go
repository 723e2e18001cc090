package load

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// open opens a file for reading. It does without the calls by which os.Open finds out
// whether the runtime can poll the file: they are half of what a small file costs.
func open(path string) (*os.File, error) {
	for {
		fd, err := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
		switch {
		case err == nil:
			return os.NewFile(uintptr(fd), path), nil
		case !errors.Is(err, syscall.EINTR):
			return nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// identity tells a file and its versions apart.
func identity(info fs.FileInfo) (inode uint64, changed int64, known bool) {
	s, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, 0, false
	}
	return s.Ino, s.Ctim.Nano(), true
}
