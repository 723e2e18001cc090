//go:build linux || darwin || freebsd

package state

import "golang.org/x/sys/unix"

// freeBytes is what the disk of dir has left for this process.
func freeBytes(dir string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return 0, err
	}
	return int64(s.Bavail) * int64(s.Bsize), nil
}
