//go:build unix

package command

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup has the program start in a process group of its own.
func ownGroup(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// killGroup kills the program and all that is left of its group.
func killGroup(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) } // nobody may be left
