// Package childtest runs servers of tests in processes of their own, which can be killed.
// Such a process is the test binary itself.
package childtest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// variable tells a test binary to be a server: which, at which port, and what else it is
// told.
const variable = "SLUICE_CHILD"

// Be makes the process a server if a Process of that name was started in it, and does not
// return then. It belongs into TestMain, before anything else. Serve listens on a port, 0
// for any, and ends with Hold.
func Be(name string, serve func(port int, options string) error) {
	words := strings.SplitN(os.Getenv(variable), "|", 3)
	if len(words) != 3 || words[0] != name {
		return
	}
	port, err := strconv.Atoi(words[1])
	if err == nil {
		err = serve(port, words[2])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Hold prints the address of a server that serves, and returns when standard input ends: it
// does with the parent.
func Hold(addr string) {
	fmt.Println(addr)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// Process is a server in a process of its own.
type Process struct {
	Addr string // host:port, the same after a kill

	tb            testing.TB
	name, options string
	child         *exec.Cmd
	stdin         io.Closer
}

// Start starts a server that Be knows by its name. It ends with the test.
func Start(tb testing.TB, name, options string) *Process {
	tb.Helper()
	p := &Process{tb: tb, name: name, options: options, Addr: "127.0.0.1:0"}
	p.Up()
	tb.Cleanup(p.Kill)
	return p
}

// Up starts the process again, at the same address. It returns when the server serves.
func (p *Process) Up() {
	p.tb.Helper()
	_, port, _ := strings.Cut(p.Addr, ":")
	p.child = exec.Command(os.Args[0])
	p.child.Env = append(os.Environ(), variable+"="+p.name+"|"+port+"|"+p.options)
	p.child.Stderr = os.Stderr
	stdin, err := p.child.StdinPipe()
	if err != nil {
		p.tb.Fatal(err)
	}
	p.stdin = stdin
	stdout, err := p.child.StdoutPipe()
	if err != nil {
		p.tb.Fatal(err)
	}
	if err := p.child.Start(); err != nil {
		p.tb.Fatal(err)
	}
	addr, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		p.tb.Fatal(err)
	}
	p.Addr = strings.TrimSpace(addr)
}

// Kill ends the process at once, as kill -9 does. What it has stored stays.
func (p *Process) Kill() {
	if p.child == nil {
		return
	}
	_ = p.child.Process.Kill()
	_ = p.child.Wait()
	_ = p.stdin.Close()
	p.child = nil
}
