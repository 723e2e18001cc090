package natstest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

func itoa(n int) string { return strconv.Itoa(n) }

// childVariable tells a test binary to be a server.
const childVariable = "SLUICE_NATSTEST"

// Child makes the process a server if StartProcess has started it as one, and does
// not return then. It is the first call of TestMain.
func Child() {
	dir, port, ok := strings.Cut(os.Getenv(childVariable), "|")
	if !ok {
		return
	}
	n, err := strconv.Atoi(port)
	if err == nil {
		err = Serve(dir, n)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Serve runs a server with JetStream and the given streams until standard input ends, and
// prints its address.
func Serve(dir string, port int, streams ...jetstream.StreamConfig) error {
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, JetStream: true, StoreDir: dir, NoSigs: true, NoLog: true, AuthTimeout: wait.Seconds()})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(wait) {
		return fmt.Errorf("the server does not start on port %d", port)
	}
	if err := create(s, streams); err != nil {
		return err
	}
	fmt.Println(strings.TrimPrefix(s.ClientURL(), "nats://"))
	_, _ = io.Copy(io.Discard, os.Stdin) // ends with its parent
	s.Shutdown()
	return nil
}

func create(s *server.Server, streams []jetstream.StreamConfig) error {
	nc, err := nats.Connect(s.ClientURL(), Patient)
	if err != nil {
		return err
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), wait)
	defer cancel()
	for _, stream := range streams {
		if _, err := js.CreateStream(ctx, stream); err != nil {
			return err
		}
	}
	return nil
}

// Process is a server that can be killed.
type Process struct {
	tb    testing.TB
	dir   string
	Addr  string // host:port, the same after a kill
	child *exec.Cmd
	stdin io.Closer
}

// StartProcess starts a server with JetStream in a process of its own.
func StartProcess(tb testing.TB) *Process {
	tb.Helper()
	p := &Process{tb: tb, dir: tb.TempDir(), Addr: "127.0.0.1:-1"}
	p.Up()
	tb.Cleanup(p.Kill)
	return p
}

// Up starts the process, with the streams of the one before.
func (p *Process) Up() {
	p.tb.Helper()
	_, port, _ := strings.Cut(p.Addr, ":")
	p.child = exec.Command(os.Args[0])
	p.child.Env = append(os.Environ(), childVariable+"="+p.dir+"|"+port)
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

// Kill ends the process at once, as kill -9 does.
func (p *Process) Kill() {
	if p.child == nil {
		return
	}
	_ = p.child.Process.Kill()
	_ = p.child.Wait()
	_ = p.stdin.Close()
	p.child = nil
}
