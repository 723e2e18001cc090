package syslog

import (
	"net"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memoryOfSocket is what Linux tells of a socket: the ninth number is how many datagrams
// it has dropped.
type memoryOfSocket [9]uint32

// dropped is how many datagrams the system has dropped of a socket.
func dropped(c *net.UDPConn) (n uint32, ok bool) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, false
	}
	var m memoryOfSocket
	size := uint32(unsafe.Sizeof(m))
	err = raw.Control(func(fd uintptr) {
		_, _, errno := unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.SOL_SOCKET, unix.SO_MEMINFO,
			uintptr(unsafe.Pointer(&m)), uintptr(unsafe.Pointer(&size)), 0)
		ok = errno == 0 && size == uint32(unsafe.Sizeof(m))
	})
	return m[8], ok && err == nil
}
