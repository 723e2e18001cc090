package stdout_test

import (
	"bufio"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/actors/sink/stdout"
	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/internal/modetest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// pipe is an output that can be broken. What it takes goes through a pipe of the
// system, when it has one.
type pipe struct {
	mu     sync.Mutex // guards the rest
	text   strings.Builder
	broken bool
	to     *os.File
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return 0, errors.New("broken pipe")
	}
	if p.to != nil {
		return p.to.Write(b)
	}
	return p.text.Write(b)
}

// lead has the output go through a pipe of the system.
func (p *pipe) lead(t *testing.T) {
	t.Helper()
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	p.to = to
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for in := bufio.NewReader(from); ; {
			line, err := in.ReadString('\n')
			p.mu.Lock()
			p.text.WriteString(line)
			p.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = to.Close()
		<-ended
		_ = from.Close()
	})
}

func (p *pipe) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func TestContract(t *testing.T) {
	var out *pipe
	sinktest.Contract(t, sinktest.Harness{
		Kind: sink.KindStdout,
		New: func(t *testing.T, m modetest.Mode) (sink.Transport, func() []string) {
			t.Helper()
			out = &pipe{}
			if m.Real() {
				out.lead(t)
			}
			return stdout.New(stdout.NewStream(out)), func() []string { return sinktest.Split(out.String()) }
		},
		Break: func(*testing.T) func() {
			set := func(to bool) { out.mu.Lock(); out.broken = to; out.mu.Unlock() }
			set(true)
			return func() { set(false) }
		},
	})
}
