package load

import (
	"io/fs"
	"syscall"
)

// identity tells a file and its versions apart.
func identity(info fs.FileInfo) (inode uint64, changed int64, known bool) {
	s, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, 0, false
	}
	return s.Ino, s.Ctim.Nano(), true
}
