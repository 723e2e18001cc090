package kafkatest

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
)

// childVariable tells a test binary to be a cluster.
const childVariable = "SLUICE_KAFKATEST"

// Child makes the process a cluster if StartProcess has started it as one, and does not
// return then. It is the first call of TestMain.
func Child() {
	dir, rest, ok := strings.Cut(os.Getenv(childVariable), "|")
	if !ok {
		return
	}
	port, rest, _ := strings.Cut(rest, "|")
	options := []kfake.Opt{kfake.GroupMinSessionTimeout(time.Second)}
	n, err := strconv.Atoi(port)
	for topic := range strings.FieldsSeq(rest) {
		name, count, _ := strings.Cut(topic, "=")
		partitions, wrong := strconv.ParseInt(count, 10, 32)
		if err == nil {
			err = wrong
		}
		options = append(options, kfake.SeedTopics(int32(partitions), name))
	}
	if err == nil {
		err = Serve(dir, n, options...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Serve runs a cluster until standard input ends, and prints its address. It keeps its log
// in dir, in memory when that is empty. Port 0 is one that is free.
func Serve(dir string, port int, options ...kfake.Opt) error {
	options = append([]kfake.Opt{kfake.NumBrokers(1), kfake.Ports(port)}, options...)
	if dir != "" {
		options = append(options, kfake.DataDir(dir))
	}
	c, err := kfake.NewCluster(options...)
	if err != nil {
		return err
	}
	fmt.Println(c.ListenAddrs()[0])
	_, _ = io.Copy(io.Discard, os.Stdin) // ends with its parent
	c.Close()
	return nil
}

// Process is a cluster of one broker that can be killed. What it has confirmed outlives
// that.
type Process struct {
	tb     testing.TB
	dir    string
	topics string
	Broker string // host:port, the same after a kill
	child  *exec.Cmd
	stdin  io.Closer
}

// StartProcess starts a cluster with topics in a process of its own. A topic is its name,
// = and the number of its partitions.
func StartProcess(tb testing.TB, topics ...string) *Process {
	tb.Helper()
	p := &Process{tb: tb, dir: tb.TempDir(), topics: strings.Join(topics, " "), Broker: "127.0.0.1:0"}
	p.Up()
	tb.Cleanup(p.Kill)
	return p
}

// Target is the broker and a topic.
func (p *Process) Target(topic string) string { return p.Broker + "/" + topic }

// Up starts the process, with what the one before has stored.
func (p *Process) Up() {
	p.tb.Helper()
	_, port, _ := strings.Cut(p.Broker, ":")
	p.child = exec.Command(os.Args[0])
	p.child.Env = append(os.Environ(), childVariable+"="+p.dir+"|"+port+"|"+p.topics)
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
	p.Broker = strings.TrimSpace(addr)
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
