package correlate

import (
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

func TestAWeightedHistogramEqualsManyObservations(t *testing.T) {
	weights := newWeighted("w", "w", fine[:])
	plain := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "p", Help: "p", Buckets: fine[:]})
	for _, o := range []struct {
		v float64
		n int
	}{{0, 1}, {0.00001, 3}, {0.00002, 512}, {0.004, 2}, {0.1, 1}, {7, 4}} {
		weights.observe(o.v, o.n)
		for range o.n {
			plain.Observe(o.v)
		}
	}
	got, want := read(t, weights), read(t, plain)
	if got.GetSampleCount() != want.GetSampleCount() || got.GetSampleSum() != want.GetSampleSum() {
		t.Errorf("count %d sum %g, want %d and %g", got.GetSampleCount(), got.GetSampleSum(), want.GetSampleCount(), want.GetSampleSum())
	}
	for i, b := range want.GetBucket() {
		if g := got.GetBucket()[i]; g.GetUpperBound() != b.GetUpperBound() || g.GetCumulativeCount() != b.GetCumulativeCount() {
			t.Errorf("bucket %d is %v, want %v", i, g, b)
		}
	}
}

func read(t *testing.T, c prometheus.Collector) *dto.Histogram {
	t.Helper()
	to := make(chan prometheus.Metric, 1)
	c.Collect(to)
	var m dto.Metric
	if err := (<-to).Write(&m); err != nil {
		t.Fatal(err)
	}
	return m.GetHistogram()
}

func TestLabelsAreCutAtACharacter(t *testing.T) {
	long := make([]byte, 0, 300)
	for len(long) < 255 {
		long = append(long, 'x')
	}
	if got := label(string(long) + "éé"); len(got) != 255 {
		t.Errorf("cut to %d bytes, want 255: the character does not fit", len(got))
	}
	if got := label("short"); got != "short" {
		t.Errorf("got %q, want it unchanged", got)
	}
}
