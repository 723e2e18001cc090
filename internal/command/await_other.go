//go:build !linux

package command

import "os"

// await waits until the program has exited.
func await(p *os.Process) (reap func() (*os.ProcessState, error)) {
	state, err := p.Wait()
	return func() (*os.ProcessState, error) { return state, err }
}
