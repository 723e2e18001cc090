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

// spawn starts a reloader and returns it with a count of begun passes.
func spawn(t *testing.T, registry *prometheus.Registry, pass func(ctx context.Context, n int) error) (*reload.Reloader, *actors.System, *int) {
	t.Helper()
	metrics, err := reload.NewMetrics(registry)
	if err != nil {
		t.Fatal(err)
	}
	passes := 0
	r := reload.New(reload.Options{Metrics: metrics, Log: slog.New(slog.DiscardHandler), Pass: func(ctx context.Context) error {
		passes++
		return pass(ctx, passes)
	}})
	system := actors.NewSystem(actors.Options{MaxRestarts: 10})
	t.Cleanup(func() {
		if err := system.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if _, err := system.Spawn(r.Cell(), r.Produce); err != nil {
		t.Fatal(err)
	}
	return r, system, &passes
}

func TestTriggersShareAPass(t *testing.T) {
	for _, tc := range []struct {
		name     string
		triggers []time.Duration // since the first
		takes    time.Duration   // each pass
		want     int
	}{
		{"one trigger, one pass", []time.Duration{0}, 0, 1},
		{"case 22: three within 200 ms share one", []time.Duration{0, 100 * time.Millisecond, 200 * time.Millisecond}, 0, 1},
		{"one after the pass begins another", []time.Duration{0, time.Second}, 0, 2},
		{"many during a pass schedule exactly one more", []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}, 10 * time.Second, 2},
		{"more than the mailbox holds", make([]time.Duration, 500), time.Second, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, _, passes := spawn(t, prometheus.NewRegistry(), func(context.Context, int) error { time.Sleep(tc.takes); return nil })
				begin := time.Now()
				for _, at := range tc.triggers {
					time.Sleep(at - time.Since(begin))
					r.Trigger("signal")
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
		r, system, _ := spawn(t, prometheus.NewRegistry(), func(_ context.Context, n int) error {
			switch n {
			case 1:
				return errors.New("rules: no such directory")
			case 2:
				panic("boom")
			}
			return nil
		})
		for i, want := range []reload.Detail{
			{Passes: 1, Failed: 1, LastError: "rules: no such directory"},
			{Passes: 2, Failed: 2, LastError: "panic: boom"},
			{Passes: 3, Failed: 2},
		} {
			r.Trigger("request")
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
		r, system, _ := spawn(t, registry, func(ctx context.Context, _ int) error {
			<-ctx.Done()
			abandoned = true
			return ctx.Err()
		})
		r.Trigger("signal")
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
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range families {
			if got := f.GetMetric()[0].GetCounter().GetValue(); f.GetName() == "reloads_failed_total" && got != 0 {
				t.Errorf("%g failed passes, want none: it was abandoned", got)
			}
		}
	})
}
