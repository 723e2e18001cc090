package stdout_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/sinktest"
	"github.com/sluicehq/sluice/actors/sink/stdout"
	"github.com/sluicehq/sluice/graph/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// pipe is an output that can be broken.
type pipe struct {
	mu     sync.Mutex
	text   strings.Builder
	broken bool
}

func (p *pipe) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken {
		return 0, errors.New("broken pipe")
	}
	return p.text.Write(b)
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
		New: func(*testing.T) (sink.Transport, func() []string) {
			out = &pipe{}
			return stdout.New(stdout.NewStream(out)), func() []string { return sinktest.Split(out.String()) }
		},
		Break: func(*testing.T) func() {
			set := func(to bool) { out.mu.Lock(); out.broken = to; out.mu.Unlock() }
			set(true)
			return func() { set(false) }
		},
	})
}
