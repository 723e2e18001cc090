package api

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

var update = flag.Bool("update", false, "rewrite golden files")

// golden compares got with testdata/name.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs\ngot:\n%s\nwant:\n%s", path, got, want)
	}
}

// builtElsewhere are the families of presence A and P whose owners exist.
var builtElsewhere = []string{
	"svc_back_pressure_events_total", "svc_batch_phase_duration_seconds", "svc_batch_size", "svc_build_info",
	"svc_correlation_matches_total", "svc_correlation_rules_loaded", "svc_correlation_state_entries",
	"svc_detection_matches_total", "svc_detection_rules_loaded", "svc_dlq_events_total", "svc_event_processing_seconds",
	"svc_events_parse_errors_total", "svc_events_processed_total", "svc_input_queue_depth", "svc_output_queue_depth",
	"svc_pipeline_latency_seconds", "svc_reloads_failed_total", "svc_reloads_total", "svc_rules_rejected", "svc_uptime_seconds",
}

func TestUnbuiltFamiliesAreThereFromTheFirstScrape(t *testing.T) {
	reg := prometheus.NewPedanticRegistry()
	if err := RegisterUnbuilt(reg, "svc_"); err != nil {
		t.Fatal(err)
	}
	page := scrape(t, reg)
	golden(t, "metrics_unbuilt.golden", page)

	// The whole catalogue: what is unbuilt and what others own, nothing twice.
	want, err := os.ReadFile(filepath.Join("testdata", "catalogue.txt"))
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Clone(builtElsewhere)
	for line := range strings.Lines(string(page)) {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			got = append(got, strings.Fields(name)[0])
		}
	}
	slices.Sort(got)
	if names := strings.Fields(string(want)); !slices.Equal(got, names) {
		t.Errorf("got families\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(names, "\n"))
	}
}

func TestAFamilyWithAnOwnerIsLeftToIt(t *testing.T) {
	reg := prometheus.NewRegistry()
	owned := prometheus.NewCounter(prometheus.CounterOpts{Name: "svc_silenced_total", Help: "By its owner."})
	owned.Add(3)
	reg.MustRegister(owned)
	if err := RegisterUnbuilt(reg, "svc_"); err != nil {
		t.Fatal(err)
	}
	page := string(scrape(t, reg))
	for _, want := range []string{"# HELP svc_silenced_total By its owner.\n", "\nsvc_silenced_total 3\n", "\nsvc_silences_active 0\n"} {
		if !strings.Contains(page, want) {
			t.Errorf("got\n%s\nwant %q in it", page, want)
		}
	}
}
