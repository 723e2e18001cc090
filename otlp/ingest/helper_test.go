package ingest

import (
	"context"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/graph"
)

// recorder keeps the texts of lines and gives their memory back at once.
type recorder struct {
	lines, excerpts []string
}

func (r *recorder) Put(_ context.Context, run []graph.Line) (int, error) {
	for _, l := range run {
		r.lines = append(r.lines, string(l.Raw))
	}
	graph.ReleaseLines(run)
	return len(run), nil
}

func (r *recorder) Oversize(_ context.Context, excerpt []byte, token graph.Token) error {
	r.excerpts = append(r.excerpts, string(excerpt))
	token.Settle()
	return nil
}

const testBody = 20 << 20

func newTestMetrics(tb testing.TB) (*Metrics, *prometheus.Registry) {
	tb.Helper()
	reg := prometheus.NewPedanticRegistry()
	m, err := NewMetrics(reg)
	if err != nil {
		tb.Fatal(err)
	}
	return m, reg
}

func newTestIntake(tb testing.TB, in interface {
	Put(context.Context, []graph.Line) (int, error)
	Oversize(context.Context, []byte, graph.Token) error
},
) *Intake {
	tb.Helper()
	m, _ := newTestMetrics(tb)
	return NewIntake(in, testBody, m)
}
