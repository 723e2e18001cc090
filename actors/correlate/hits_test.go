package correlate

import (
	"testing"
	"testing/synctest"
	"time"

	dto "github.com/prometheus/client_model/go"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/sigma/ast"
)

// The series counts results, a hit is also a match that only feeds other rules.
func TestHitsAreResultsAndWhatIsWithheld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.set.Catalog = catalog.New([]*ast.Rule{{Meta: ast.Meta{Title: "A"}}}, nil, func(f string) string { return f }, nil)
		r.stage.metrics.catalog = r.set.Catalog
		tally := r.set.Catalog.Detection(0)
		want := func(what string, hits uint64, last time.Time, results float64) {
			t.Helper()
			synctest.Wait()
			if n, at := tally.Hits(); n != hits || !at.Equal(last) {
				t.Errorf("%s: %d hits, the last at %s, want %d at %s", what, n, at, hits, last)
			}
			var m dto.Metric
			if err := r.stage.metrics.byRule.WithLabelValues("A", "unknown").Write(&m); err != nil || m.GetCounter().GetValue() != results {
				t.Errorf("%s: the series counts %v results (%v), want %v", what, m.GetCounter().GetValue(), err, results)
			}
		}
		time.Sleep(time.Minute)
		r.stage.Lane().TryPut([]*graph.Batch{r.batch(0, 0, 0)})
		want("events that match nothing", 0, time.Time{}, 0)
		first := time.Now()
		r.stage.Lane().TryPut([]*graph.Batch{r.batch(1, 2, 0, 1)})
		want("three results", 3, first, 3)
		time.Sleep(time.Hour)
		b := r.batch(2, 0, 1)
		b.Withheld = []uint32{0, 0}
		r.stage.Lane().TryPut([]*graph.Batch{b})
		want("one, and two that are withheld", 6, time.Now(), 4)
		time.Sleep(time.Hour)
		b = r.batch(3, 0)
		b.Withheld = []uint32{0}
		r.stage.Lane().TryPut([]*graph.Batch{b})
		want("one that is withheld alone", 7, time.Now(), 4)
	})
}
