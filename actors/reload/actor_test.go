package reload_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/graph/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// spawn starts a reloader of components.
func spawn(t *testing.T, registry *prometheus.Registry, components ...actors.Component) (*reload.Reloader, *actors.System) {
	t.Helper()
	metrics, err := reload.NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	r := reload.New(reload.Options{Metrics: metrics, Log: slog.New(slog.DiscardHandler), Components: components})
	system := actors.NewSystem(actors.Options{MaxRestarts: 10})
	t.Cleanup(func() {
		r.Close()
		if err := system.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if _, err := system.Spawn(r.Cell(), r.Produce); err != nil {
		t.Fatal(err)
	}
	return r, system
}

// counted returns a component that is built in every pass, and how often it was.
func counted(build func(ctx context.Context, n int) error) (actors.Component, *int) {
	passes := 0
	return actors.Component{Name: "rules", Build: func(ctx context.Context) (func(context.Context) error, error) {
		passes++
		return func(context.Context) error { return nil }, build(ctx, passes)
	}}, &passes
}

// counter is the value of a family of one counter.
func counter(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatalf("there is no series %s", name)
	return 0
}

func TestTriggersShareAPass(t *testing.T) {
	for _, tc := range []struct {
		name     string
		triggers []time.Duration // since the first
		takes    time.Duration   // each pass
		want     int
	}{
		{"one trigger, one pass", []time.Duration{0}, 0, 1},
		{"three within 200 ms share one", []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond}, 0, 1},
		{"one after the pass begins another", []time.Duration{0, time.Second}, 0, 2},
		{"many during a pass schedule exactly one more", []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}, 10 * time.Second, 2},
		{"more than the mailbox holds", make([]time.Duration, 500), time.Second, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c, passes := counted(func(context.Context, int) error { time.Sleep(tc.takes); return nil })
				r, _ := spawn(t, prometheus.NewRegistry(), c)
				begin := time.Now()
				for _, at := range tc.triggers {
					time.Sleep(at - time.Since(begin))
					r.Trigger(reload.Signal, "SIGHUP")
				}
				time.Sleep(time.Minute)
				synctest.Wait()
				if *passes != tc.want {
					t.Errorf("%d passes, want %d", *passes, tc.want)
				}
			})
		})
	}
}

func TestDetailTellsTheLastPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := counted(func(_ context.Context, n int) error {
			switch n {
			case 1:
				return errors.New("no such directory")
			case 2:
				panic("boom")
			}
			return nil
		})
		r, system := spawn(t, prometheus.NewRegistry(), c)
		for i, want := range []reload.Detail{
			{Passes: 1, Failed: 1, LastError: "rules: no such directory"},
			{Passes: 2, Failed: 2, LastError: "rules: panic: boom"},
			{Passes: 3, Failed: 2},
		} {
			r.Trigger(reload.Signal, "SIGHUP")
			time.Sleep(time.Second)
			synctest.Wait()
			got, ok := system.Detail(t.Context(), reload.Name).(reload.Detail)
			if !ok || got.LastPass == nil {
				t.Fatalf("pass %d: got %+v, want the time of the last pass", i+1, got)
			}
			got.LastPass = nil
			if got != want {
				t.Errorf("pass %d: got %+v, want %+v", i+1, got, want)
			}
		}
	})
}

func TestADrainAbandonsAPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		abandoned, registry := false, prometheus.NewRegistry()
		c, _ := counted(func(ctx context.Context, _ int) error {
			<-ctx.Done()
			abandoned = true
			return ctx.Err()
		})
		c.Ended = func(err error) { t.Errorf("the component ended with %v, want no outcome of an abandoned pass", err) }
		r, system := spawn(t, registry, c)
		r.Trigger(reload.Signal, "SIGHUP")
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := system.DrainActor(ctx, reload.Name); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if !abandoned {
			t.Error("the pass goes on after the drain")
		}
		if got := counter(t, registry, "reloads_failed_total"); got != 0 {
			t.Errorf("%g failed passes, want none: it was abandoned", got)
		}
	})
}
