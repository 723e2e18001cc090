//go:build !unix

package command

import (
	"os"
	"os/exec"
)

// ownGroup does nothing: there are no groups.
func ownGroup(*exec.Cmd) {}

// killGroup kills the program alone.
func killGroup(p *os.Process) { _ = p.Kill() } // it may have ended
