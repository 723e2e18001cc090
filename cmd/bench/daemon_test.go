package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"
)

func TestBodiesAreWholeLines(t *testing.T) {
	for _, tc := range []struct {
		name, data string
		lines      int
		want       []string
	}{
		{"nothing is no body", "", 2, nil},
		{"the last body takes what is left", "a\nb\nc\n", 2, []string{"a\nb\n", "c\n"}},
		{"a last line without an end counts", "a\nb", 5, []string{"a\nb"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := &post{lines: tc.lines}
			got := p.bodies([]byte(tc.data))
			if len(got) != len(tc.want) {
				t.Fatalf("%d bodies, want %q", len(got), tc.want)
			}
			for i := range got {
				if string(got[i]) != tc.want[i] {
					t.Errorf("body %d is %q, want %q", i, got[i], tc.want[i])
				}
			}
		})
	}
}

func TestSpentReadsTheDaemonsOwnFigures(t *testing.T) {
	page := "# HELP x y\nsvc_events_processed_total 1.2e+06\nsvc_detection_matches_total 7\nother 1\nsvc_sink_queue_depth{sink=\"file\"} 2\nsvc_sink_queue_depth{sink=\"nats\"} 1\n"
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(page)) }))
	defer s.Close()
	c := &child{addr: strings.TrimPrefix(s.URL, "http://")}
	if _, err := c.spent(t.Context()); err == nil {
		t.Error("no error, want one: the page has no processor time")
	}
	page += "process_cpu_seconds_total 1.5\n"
	got, err := c.spent(t.Context())
	if want := (spent{events: 1_200_000, results: 7, cpu: 1500 * time.Millisecond, waiting: 3}); err != nil || got != want {
		t.Errorf("got %+v, %v, want %+v", got, err, want)
	}
}

func TestAProcessIsTimedToLessThanATick(t *testing.T) {
	before, ok := processorTime(os.Getpid())
	if !ok {
		t.Skip("the system does not tell what a process has used")
	}
	used := before
	for range 1000 { // some microseconds each
		used, _ = processorTime(os.Getpid())
		if used > before {
			break
		}
	}
	if step := used - before; step <= 0 || step >= 10*time.Millisecond {
		t.Errorf("the clock went on by %s, want a part of a tick", step)
	}
	if _, ok := processorTime(1<<22 + 1); ok {
		t.Error("a process that is not there has used time")
	}
}

func TestMedian(t *testing.T) {
	for quarter, want := range []float64{1, 2, 3, 4} {
		if got := quantile([]float64{4, 1, 3, 2}, quarter); got != want {
			t.Errorf("quartile %d is %v, want %v", quarter, got, want)
		}
	}
}
