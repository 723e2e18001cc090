package daemon

import (
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/http/server"
)

// scalars are the names of the families without labels, which no component has
// to be configured for.
func scalars(t *testing.T, g prometheus.Gatherer) (names []string, moved []string) {
	t.Helper()
	families, err := g.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName()[:len(metricPrefix)] != metricPrefix || len(f.GetMetric()[0].GetLabel()) > 0 {
			continue
		}
		names = append(names, f.GetName())
		m := f.GetMetric()[0]
		if f.GetType() == dto.MetricType_COUNTER && m.GetCounter().GetValue() != 0 || m.GetHistogram().GetSampleCount() != 0 {
			moved = append(moved, f.GetName())
		}
	}
	return names, moved
}

func TestScrapesSeeEveryFamilyBeforeTheRulesAreLoaded(t *testing.T) {
	cfg := counting(t)
	d, err := New(t.Context(), Options{Config: cfg, Log: slog.New(slog.DiscardHandler), Out: io.Discard, Err: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := d.Stop(); err != nil {
			t.Error(err)
		}
	}()
	d.call("POST", "/api/v1/events?commit=true", `{"C":"evil","U":"a"}`)
	want, moved := scalars(t, d.registry)
	if !slices.Contains(moved, "svc_events_processed_total") || len(want) < 30 {
		t.Fatalf("%d families, of which %q have moved: not those of the stages that run", len(want), moved)
	}
	addr, err := server.ParseAddress("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	early := &Daemon{cfg: d.cfg, system: actors.NewSystem(actors.Options{})}
	if early.server, err = server.Listen(addr, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = errors.Join(early.system.Stop(t.Context()), early.server.Close()) }()
	if err := early.register(); err != nil {
		t.Fatal(err)
	}
	got, moved := scalars(t, early.registry)
	if !slices.Equal(got, want) {
		t.Errorf("before the rules are loaded\n%q\nafterwards\n%q", got, want)
	}
	if len(moved) > 0 {
		t.Errorf("%q have moved before anything ran", moved)
	}
	catalogue, err := os.ReadFile("testdata/catalogue.txt")
	if err != nil {
		t.Fatal(err)
	}
	families, err := early.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	there := make(map[string]bool)
	for _, f := range families {
		there[f.GetName()] = true
	}
	for name := range strings.FieldsSeq(string(catalogue)) {
		if !there[name] {
			t.Errorf("%s is in the catalogue of families that are always there, and is not", name)
		}
	}
}
