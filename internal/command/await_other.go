//go:build !linux

package command

import "os"

// awaitExit waits until the program has exited.
func awaitExit(p *os.Process) (reap func() (*os.ProcessState, error)) {
	state, err := p.Wait()
	return func() (*os.ProcessState, error) { return state, err }
}
