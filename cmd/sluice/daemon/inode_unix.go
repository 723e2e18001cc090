//go:build unix

package daemon

import (
	"io/fs"
	"syscall"
)

// inode is the file's number on its disk.
func inode(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return 0
}
