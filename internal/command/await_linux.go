package command

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// awaitExit waits until the program has exited. It keeps its number, which is that of its
// group, until it is reaped.
func awaitExit(p *os.Process) (reap func() (*os.ProcessState, error)) {
	for {
		err := unix.Waitid(unix.P_PID, p.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return p.Wait
		}
	}
}
