package reload_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/reload"
)

// rebuilding spawns a reloader that is given changes at times since its begin, and
// returns what each rebuild was told.
func rebuilding(t *testing.T, registry *prometheus.Registry, rebuild reload.Rebuild, pass func(), during func(r *reload.Reloader)) {
	t.Helper()
	metrics, err := reload.NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	r := reload.New(reload.Options{
		Metrics: metrics, Log: slog.New(slog.DiscardHandler), Rebuild: rebuild,
		Components: []actors.Component{{Name: "rules", Build: func(context.Context) (func(context.Context) error, error) {
			pass()
			return nil, actors.ErrUnchanged
		}}},
	})
	system := actors.NewSystem(actors.Options{MaxRestarts: 10})
	defer func() {
		r.Close()
		if err := system.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	if _, err := system.Spawn(r.Cell(), r.Produce); err != nil {
		t.Fatal(err)
	}
	during(r)
	time.Sleep(time.Minute)
	synctest.Wait()
}

func TestChangesOfSourcesShareARebuild(t *testing.T) {
	for _, tc := range []struct {
		name    string
		changes []time.Duration // since the first, of the sources a, b and so on
		takes   time.Duration   // each rebuild
		want    string
	}{
		{"one change, one rebuild", []time.Duration{0}, 0, "a"},
		{"those within 100 ms share one", []time.Duration{0, 50 * time.Millisecond, 99 * time.Millisecond}, 0, "a+b+c"},
		{"a later one is another", []time.Duration{0, 150 * time.Millisecond}, 0, "a b"},
		{"many during a rebuild are one more", []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}, 10 * time.Second, "a b+c+d"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var rebuilds []string
				rebuilding(t, prometheus.NewRegistry(), func(_ context.Context, sources []string) error {
					rebuilds = append(rebuilds, strings.Join(sources, "+"))
					time.Sleep(tc.takes)
					return nil
				}, func() { t.Error("a change of a source made a pass") }, func(r *reload.Reloader) {
					begin := time.Now()
					for i, at := range tc.changes {
						time.Sleep(at - time.Since(begin))
						r.Changed(string(rune('a' + i)))
					}
				})
				if got := strings.Join(rebuilds, " "); got != tc.want {
					t.Errorf("got the rebuilds %s, want %s", got, tc.want)
				}
			})
		})
	}
	t.Run("a burst of one source is one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := 0
			rebuilding(t, prometheus.NewRegistry(), func(context.Context, []string) error { n++; return nil }, func() {}, func(r *reload.Reloader) {
				for range 10_000 {
					r.Changed("a")
				}
			})
			if n != 1 {
				t.Errorf("%d rebuilds, want one", n)
			}
		})
	})
}

func TestNoPassRunsBesideARebuild(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy, passes, rebuilds := false, 0, 0
		alone := func() {
			if busy {
				t.Error("two at a time")
			}
			busy = true
			time.Sleep(5 * time.Second)
			busy = false
		}
		rebuilding(t, prometheus.NewRegistry(), func(context.Context, []string) error { alone(); rebuilds++; return nil }, func() { alone(); passes++ }, func(r *reload.Reloader) {
			for range 3 {
				r.Trigger(reload.Signal, "SIGHUP")
				r.Changed("a")
				time.Sleep(2 * time.Second)
			}
		})
		if passes < 1 || rebuilds < 1 {
			t.Errorf("%d passes and %d rebuilds, want some of both", passes, rebuilds)
		}
	})
}

func TestARebuildThatFailsIsCountedAndNothingElse(t *testing.T) {
	for _, tc := range []struct {
		name string
		do   func() error
		want float64
	}{
		{"a failure", func() error { return errors.New("no") }, 1},
		{"a panic", func() error { panic("no") }, 1},
		{"nothing that changes", func() error { return actors.ErrUnchanged }, 0},
		{"a success", func() error { return nil }, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registry := prometheus.NewRegistry()
				n := 0
				rebuilding(t, registry, func(context.Context, []string) error {
					n++
					return tc.do()
				}, func() {}, func(r *reload.Reloader) {
					r.Changed("a")
					time.Sleep(time.Second)
					r.Changed("a") // it is tried again
				})
				if got := counter(t, registry, "reloads_failed_total"); got != 2*tc.want || n != 2 {
					t.Errorf("%d rebuilds, %v failed, want 2 and %v", n, got, 2*tc.want)
				}
				if got := counter(t, registry, "reloads_total"); got != 0 {
					t.Errorf("%v passes, want none", got)
				}
			})
		})
	}
}
