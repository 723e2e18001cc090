//go:build unix

package disk

import "golang.org/x/sys/unix"

// writable asks the system whether this process may write.
func writable(path string) error { return unix.Access(path, unix.W_OK) }
