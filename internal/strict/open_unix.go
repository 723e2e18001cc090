//go:build unix

package strict

import (
	"os"
	"syscall"
)

// openFlags open a named pipe without waiting for a writer.
const openFlags = os.O_RDONLY | syscall.O_NONBLOCK
