package reload_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/reload"
)

// rebuilding is a reloader that notes its rebuilds and what they come to.
type rebuilding struct {
	*reload.Reloader
	registry *prometheus.Registry
	begun    time.Time
	runs     []string // when each began, and of which sources
	takes    time.Duration
	err      error // "panic" panics
	busy     bool  // a pass or a rebuild runs
	log      strings.Builder
}

func newRebuilding(t *testing.T, passTakes time.Duration) *rebuilding {
	t.Helper()
	r := &rebuilding{registry: prometheus.NewRegistry(), begun: time.Now()}
	metrics, err := reload.NewMetrics(r.registry)
	if err != nil {
		t.Fatal(err)
	}
	alone := func(takes time.Duration) {
		if r.busy {
			t.Error("two run at once")
		}
		r.busy = true
		time.Sleep(takes)
		r.busy = false
	}
	r.Reloader = reload.New(reload.Options{
		Metrics: metrics, Log: slog.New(slog.NewTextHandler(&r.log, nil)),
		Components: []actors.Component{{Name: "rules", Build: func(context.Context) (func(context.Context) error, error) {
			alone(passTakes)
			return func(context.Context) error { return nil }, nil
		}}},
		Rebuild: func(_ context.Context, ids []string) error {
			r.runs = append(r.runs, time.Since(r.begun).String()+" "+strings.Join(ids, " "))
			alone(r.takes)
			if r.err != nil && r.err.Error() == "panic" {
				panic("boom")
			}
			return r.err
		},
	})
	system := actors.NewSystem(actors.Options{MaxRestarts: 10})
	t.Cleanup(func() {
		if err := system.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if _, err := system.Spawn(r.Cell(), r.Produce); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestChangedValuesShareARebuild(t *testing.T) {
	type change struct {
		at time.Duration
		id string
	}
	burst := func(n int, every time.Duration) (all []change) {
		for i := range n {
			all = append(all, change{time.Duration(i) * every, "f"})
		}
		return all
	}
	for _, tc := range []struct {
		name    string
		changes []change
		takes   time.Duration
		reload  time.Duration // when one is asked for; 0 for never
		want    []string
	}{
		{"one change", []change{{0, "f"}}, 0, 0, []string{"100ms f"}},
		{"several within 100 ms", []change{{0, "g"}, {50 * time.Millisecond, "f"}, {90 * time.Millisecond, "g"}}, 0, 0, []string{"100ms f g"}},
		{"one after that", []change{{0, "f"}, {150 * time.Millisecond, "g"}}, 0, 0, []string{"100ms f", "250ms g"}},
		{"changes during a rebuild lead to one more", []change{{0, "f"}, {time.Second, "g"}, {2 * time.Second, "h"}, {3 * time.Second, "g"}}, 10 * time.Second, 0, []string{"100ms f", "10.2s g h"}},
		{"a burst", burst(1000, 10*time.Microsecond), 0, 0, []string{"100ms f"}},
		{"a change during a reload waits for its end", []change{{time.Second, "f"}}, 0, time.Millisecond, []string{"5.601s f"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRebuilding(t, 5*time.Second)
				r.takes = tc.takes
				if tc.reload > 0 {
					time.Sleep(tc.reload)
					r.Request()
				}
				for _, c := range tc.changes {
					time.Sleep(c.at - time.Since(r.begun))
					r.Rebuild([]string{c.id})
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if !slices.Equal(r.runs, tc.want) {
					t.Errorf("rebuilds at %q, want %q", r.runs, tc.want)
				}
				if passes, want := counter(t, r.registry, "reloads_total"), min(1, float64(tc.reload)); passes != want {
					t.Errorf("%g reloads, want %g", passes, want)
				}
			})
		})
	}
}

func TestARebuildThatFailsCountsAsAFailureAndNoReload(t *testing.T) {
	for _, text := range []string{"source 'f': include parse error", "panic"} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRebuilding(t, 0)
				r.Loaded()
				r.err = errors.New(text)
				r.Rebuild([]string{"f"})
				time.Sleep(time.Second)
				synctest.Wait()
				if failed, all := counter(t, r.registry, "reloads_failed_total"), counter(t, r.registry, "reloads_total"); failed != 1 || all != 0 {
					t.Errorf("%g of %g reloads failed, want 1 of 0", failed, all)
				}
				if gauge(t, r.registry, "last_reload_successful") != 1 {
					t.Error("the last reload counts as failed")
				}
				if s := status(t, r.Reloader); s.pending || s.last != nil {
					t.Errorf("the status is %+v", s)
				}
				if log := r.log.String(); !strings.Contains(log, "level=ERROR") || !strings.Contains(log, "sources=[f]") {
					t.Errorf("the log is\n%s", log)
				}
				r.err = nil
				r.Rebuild([]string{"g"})
				time.Sleep(time.Second)
				synctest.Wait()
				if len(r.runs) != 2 {
					t.Errorf("rebuilds at %q, want another after the next change", r.runs)
				}
			})
		})
	}
}
