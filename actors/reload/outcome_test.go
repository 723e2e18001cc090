package reload_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/reload"
)

// shown is what the status has of reloads.
type shown struct {
	pending bool
	last    *reload.Outcome
}

func status(t *testing.T, r *reload.Reloader) (s shown) {
	t.Helper()
	for i, m := range r.Feature().Status() {
		switch v := m.Value.(type) {
		case bool:
			if i != 0 || m.Name != "reload_pending" {
				t.Errorf("member %d is %s, want reload_pending first", i, m.Name)
			}
			s.pending = v
		case reload.Outcome:
			if i != 1 || m.Name != "last_reload" {
				t.Errorf("member %d is %s, want last_reload as the second", i, m.Name)
			}
			s.last = &v
		}
	}
	return s
}

// gauge is the value of a family of one gauge.
func gauge(t *testing.T, registry *prometheus.Registry, name string) float64 {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		if f.GetName() == name {
			return f.GetMetric()[0].GetGauge().GetValue()
		}
	}
	t.Fatalf("there is no series %s", name)
	return 0
}

func TestTheStatusTellsHowTheLastReloadEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var broken error
		registry := prometheus.NewRegistry()
		c, _ := counted(func(context.Context, int) error { time.Sleep(10 * time.Second); return broken })
		r, _ := spawn(t, registry, c)
		wantGauges := func(when string, successful float64, at time.Time) {
			t.Helper()
			var unix float64
			if !at.IsZero() {
				unix = float64(at.UnixMilli()) / 1000
			}
			if got := gauge(t, registry, "last_reload_successful"); got != successful {
				t.Errorf("%s: last_reload_successful is %g, want %g", when, got, successful)
			}
			if got := gauge(t, registry, "last_reload_success_timestamp_seconds"); got != unix {
				t.Errorf("%s: last_reload_success_timestamp_seconds is %f, want %f", when, got, unix)
			}
		}
		wantGauges("before the start's load", 0, time.Time{})
		time.Sleep(1500 * time.Millisecond)
		loaded := time.Now()
		r.Loaded()
		wantGauges("after the start's load", 1, loaded)
		if got := status(t, r); got.pending || got.last != nil {
			t.Errorf("before the first reload the status is %+v, want nothing pending and no outcome", got)
		}
		successful, success := 1.0, loaded
		for _, tc := range []struct {
			name    string
			trigger func()
			broken  error
			want    reload.Outcome
		}{
			{"a good one", r.Request, nil, reload.Outcome{OK: true, Trigger: reload.API}},
			{"one that fails", r.Request, errors.New("b.yml: broken"), reload.Outcome{Trigger: reload.API, Error: "rules: b.yml: broken"}},
			{"another one that fails", func() { r.Trigger(reload.File, "file b.yml") }, errors.New("worse"), reload.Outcome{Trigger: reload.File, Error: "rules: worse"}},
			{
				"two triggers, of which the first gives its name",
				func() { r.Trigger(reload.Signal, "SIGHUP"); time.Sleep(300 * time.Millisecond); r.Request() },
				nil,
				reload.Outcome{OK: true, Trigger: reload.Signal},
			},
		} {
			broken = tc.broken
			before, begun := status(t, r), time.Now()
			tc.trigger()
			if got := status(t, r); !got.pending {
				t.Errorf("%s: no reload is pending after the trigger", tc.name)
			}
			time.Sleep(5 * time.Second)
			got := status(t, r)
			if !got.pending || got.last != nil && *got.last != *before.last {
				t.Errorf("%s: while it runs the status is %+v, want it pending and the last outcome", tc.name, got)
			}
			wantGauges(tc.name+", while it runs", successful, success)
			ended := begun.Add(10500 * time.Millisecond) // half a second passes before it begins
			time.Sleep(time.Until(ended))
			synctest.Wait()
			got = status(t, r)
			if got.pending || got.last == nil {
				t.Fatalf("%s: the status is %+v, want an outcome", tc.name, got)
			}
			if late := ended.Sub(got.last.At); late < 0 || late >= time.Second || got.last.At.Location() != time.UTC {
				t.Errorf("%s: it ended at %s, want the second of %s", tc.name, got.last.At, ended.UTC())
			}
			tc.want.At = got.last.At
			if *got.last != tc.want {
				t.Errorf("%s: outcome %+v, want %+v", tc.name, *got.last, tc.want)
			}
			successful = 0
			if tc.want.OK {
				successful, success = 1, ended
			}
			wantGauges(tc.name, successful, success)
		}
	})
}

func TestAReloadIsPendingUntilTheOneThatCoversItHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := counted(func(_ context.Context, n int) error {
			time.Sleep(10 * time.Second)
			if n == 1 {
				return errors.New("the first")
			}
			return nil
		})
		r, _ := spawn(t, prometheus.NewRegistry(), c)
		r.Trigger(reload.File, "file a.yml")
		time.Sleep(5 * time.Second) // the pass has begun and knows nothing of what comes now
		r.Request()
		time.Sleep(6 * time.Second)
		synctest.Wait()
		if got := status(t, r); !got.pending || got.last == nil || got.last.Error != "rules: the first" {
			t.Errorf("behind the first pass the status is %+v, want its outcome, and the request pending", got)
		}
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if got := status(t, r); got.pending || got.last == nil || !got.last.OK || got.last.Trigger != reload.API {
			t.Errorf("behind the second pass the status is %+v, want its outcome", got)
		}
	})
}

func TestAnAbandonedReloadHasNoOutcome(t *testing.T) {
	for _, tc := range []struct {
		name  string
		after time.Duration // the trigger
	}{{"before its pass begins", 0}, {"during its pass", time.Second}} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				registry := prometheus.NewRegistry()
				c, _ := counted(func(ctx context.Context, _ int) error { <-ctx.Done(); return ctx.Err() })
				r, system := spawn(t, registry, c)
				r.Loaded()
				r.Request()
				time.Sleep(tc.after)
				synctest.Wait()
				ctx, cancel := context.WithCancel(t.Context())
				cancel()
				if _, err := system.DrainActor(ctx, reload.Name); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if got := status(t, r); !got.pending || got.last != nil {
					t.Errorf("the status is %+v, want it pending without an outcome", got)
				}
				if got := gauge(t, registry, "last_reload_successful"); got != 1 {
					t.Errorf("last_reload_successful is %g, want that of the load", got)
				}
			})
		})
	}
}

func TestTheErrorNamesEveryComponentThatFailed(t *testing.T) {
	const ok = "ok"
	long := strings.Repeat("é", 2000)
	for _, tc := range []struct {
		name   string
		errors []string // of the components a, b, ...
		want   string   // "" for what only has to be short and name all
	}{
		{"one component", []string{"x.yml: document 1: no title"}, "a: x.yml: document 1: no title"},
		{"two of three", []string{"p", ok, "q"}, "a: p; c: q"},
		{"only the first problem of each", []string{"p\nsecond\nthird", "q\nsecond"}, "a: p; b: q"},
		{"a first line that announces the next", []string{"x.yml: yaml:\n  line 3: bad\n  line 4: bad"}, "a: x.yml: yaml: line 3: bad"},
		{"bytes that are no text", []string{"\xff\xfe.yml"}, "a: ?.yml"},
		{"a problem that is too long", []string{long}, ""},
		{"one long problem beside a short one", []string{long, "q"}, ""},
		{"many long problems", []string{long, long, long, long, long, long, long, long}, ""},
		{"as long as may be", []string{strings.Repeat("x", 1024-3)}, "a: " + strings.Repeat("x", 1024-3)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var list []actors.Component
				for i, text := range tc.errors {
					c, _ := counted(func(context.Context, int) error {
						if text == ok {
							return nil
						}
						return fmt.Errorf("%w", errors.New(text))
					})
					c.Name = string(rune('a' + i))
					list = append(list, c)
				}
				r, _ := spawn(t, prometheus.NewRegistry(), list...)
				r.Request()
				time.Sleep(time.Second)
				synctest.Wait()
				got := status(t, r).last.Error
				if tc.want != "" && got != tc.want {
					t.Errorf("got %q, want %q", got, tc.want)
				}
				if len(got) > 1024 || !utf8.ValidString(got) {
					t.Errorf("%d bytes, valid: %t, want at most 1024 of valid text", len(got), utf8.ValidString(got))
				}
				for i, text := range tc.errors {
					if name := string(rune('a'+i)) + ": "; text != ok && !strings.Contains(got, name) {
						t.Errorf("component %s is not named in %q", name, got)
					}
				}
			})
		})
	}
}

func TestTheOutcomeAsJSON(t *testing.T) {
	at := time.Date(2026, 3, 10, 12, 0, 5, 0, time.UTC)
	for want, o := range map[string]reload.Outcome{
		`{"ok":true,"at":"2026-03-10T12:00:05Z","trigger":"api"}`:                                                     {OK: true, At: at, Trigger: reload.API},
		`{"ok":false,"at":"2026-03-10T12:00:05Z","trigger":"signal","error":"rules: ` + fs.ErrNotExist.Error() + `"}`: {At: at, Trigger: reload.Signal, Error: "rules: " + fs.ErrNotExist.Error()},
	} {
		got, err := json.Marshal(o)
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
	}
}
