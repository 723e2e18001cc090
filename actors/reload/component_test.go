package reload_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/reload"
)

// version is a component that serves a text.
type version struct {
	name, input, serves string
	fails               string // the step that fails: build, panic or publish
	built, again        int
	outcomes            []error
}

var errBroken = errors.New("broken")

func (v *version) at(step string) error {
	if v.fails == step {
		return errBroken
	}
	return nil
}

func (v *version) component() actors.Component {
	return actors.Component{
		Name: v.name,
		Build: func(context.Context) (func(context.Context) error, error) {
			if sha256.Sum256([]byte(v.input)) == sha256.Sum256([]byte(v.serves)) {
				return nil, actors.ErrUnchanged
			}
			v.built++
			if v.at("panic") != nil {
				panic("boom")
			}
			next := v.input
			return func(context.Context) error {
				if err := v.at("publish"); err != nil {
					return err
				}
				v.serves = next
				return nil
			}, v.at("build")
		},
		Unchanged: func(context.Context) error { v.again++; return nil },
		Ended:     func(err error) { v.outcomes = append(v.outcomes, err) },
	}
}

func TestComponentsAreRenewedIndependently(t *testing.T) {
	for _, tc := range []struct {
		name      string
		a, b      version // before a pass
		wantA     string  // serves after it
		wantB     string
		failed    float64
		lastError string
	}{
		{"both have changed", version{input: "2"}, version{input: "2"}, "2", "2", 0, ""},
		{"the first cannot be built", version{input: "2", fails: "build"}, version{input: "2"}, "1", "2", 1, "a: broken"},
		{"the second cannot be built", version{input: "2"}, version{input: "2", fails: "build"}, "2", "1", 1, "b: broken"},
		{"both fail and the pass counts once", version{input: "2", fails: "build"}, version{input: "2", fails: "build"}, "1", "1", 1, "a: broken\nb: broken"},
		{"the first cannot be published", version{input: "2", fails: "publish"}, version{input: "2"}, "1", "2", 1, "a: broken"},
		{"the first panics", version{input: "2", fails: "panic"}, version{input: "2"}, "1", "2", 1, "a: panic: boom"},
		{"the first has not changed", version{input: "1", fails: "build"}, version{input: "2"}, "1", "2", 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a, b := tc.a, tc.b
				a.name, a.serves, b.name, b.serves = "a", "1", "b", "1"
				registry := prometheus.NewRegistry()
				r, system := spawn(t, registry, a.component(), b.component())
				r.Trigger(reload.Signal, "SIGHUP")
				time.Sleep(time.Second)
				synctest.Wait()
				if a.serves != tc.wantA || b.serves != tc.wantB {
					t.Errorf("a serves %s and b serves %s, want %s and %s", a.serves, b.serves, tc.wantA, tc.wantB)
				}
				if got := counter(t, registry, "reloads_failed_total"); got != tc.failed {
					t.Errorf("%g failed passes, want %g", got, tc.failed)
				}
				if got := system.Detail(t.Context(), reload.Name).(reload.Detail); got.LastError != tc.lastError || got.Passes != 1 {
					t.Errorf("got %+v, want one pass with the error %q", got, tc.lastError)
				}
				for _, v := range []*version{&a, &b} {
					failed := v.fails != "" && v.input != "1"
					if len(v.outcomes) != 1 || (v.outcomes[0] != nil) != failed {
						t.Errorf("%s was told %v, want one outcome, failed: %t", v.name, v.outcomes, failed)
					}
				}
			})
		})
	}
}

func TestAComponentWithUnchangedInputsIsNotBuilt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &version{name: "rules", input: "1", serves: "1"}
		r, _ := spawn(t, prometheus.NewRegistry(), v.component())
		for pass, tc := range []struct {
			input, fails string
			built, again int // so far
		}{
			{"1", "", 0, 1},
			{"2", "", 1, 1},
			{"2", "", 1, 2},
			{"3", "publish", 2, 2},
			{"3", "", 3, 2}, // what was not published is built again
			{"3", "", 3, 3},
			{"2", "", 4, 3},
		} {
			v.input, v.fails = tc.input, tc.fails
			r.Trigger(reload.Signal, "SIGHUP")
			time.Sleep(time.Second)
			synctest.Wait()
			if v.built != tc.built || v.again != tc.again {
				t.Errorf("pass %d: built %d times, found unchanged %d times, want %d and %d", pass, v.built, v.again, tc.built, tc.again)
			}
		}
	})
}

func TestADrainPublishesNothingAnyMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &version{name: "rules", input: "2", serves: "1"}
		c := v.component()
		slow := c.Build
		c.Build = func(ctx context.Context) (func(context.Context) error, error) {
			time.Sleep(time.Minute)
			return slow(ctx)
		}
		r, system := spawn(t, prometheus.NewRegistry(), c)
		r.Trigger(reload.Signal, "SIGHUP")
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := system.DrainActor(ctx, reload.Name); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour)
		synctest.Wait()
		if v.serves != "1" || v.built != 1 {
			t.Errorf("version %s serves after %d builds, want the one before the drain", v.serves, v.built)
		}
	})
}

// directories is a component that is built of the file a.yml in some directories.
type directories struct {
	dirs   atomic.Pointer[[]string]
	serves string
	built  atomic.Int64
}

func (d *directories) read(t *testing.T) (content string) {
	t.Helper()
	for _, dir := range *d.dirs.Load() {
		raw, err := os.ReadFile(filepath.Join(dir, "a.yml"))
		if err != nil {
			t.Error(err)
		}
		content += string(raw)
	}
	return content
}

func (d *directories) component(t *testing.T, dirs ...string) actors.Component {
	t.Helper()
	d.dirs.Store(&dirs)
	d.serves = d.read(t)
	return actors.Component{
		Name: "directories", Paths: func() []string { return *d.dirs.Load() },
		Build: func(context.Context) (func(context.Context) error, error) {
			next := d.read(t)
			if next == d.serves {
				return nil, actors.ErrUnchanged
			}
			return func(context.Context) error { d.serves = next; d.built.Add(1); return nil }, nil
		},
	}
}

func TestEachComponentHasItsOwnPaths(t *testing.T) {
	change := func(dir, text string) {
		t.Helper()
		next := filepath.Join(t.TempDir(), "a.yml")
		if err := os.WriteFile(next, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(next, filepath.Join(dir, "a.yml")); err != nil { // at once: nobody reads a half
			t.Fatal(err)
		}
	}
	first, second, third := t.TempDir(), t.TempDir(), t.TempDir()
	for _, dir := range []string{first, second, third} {
		change(dir, "")
	}
	var a, b directories
	registry := prometheus.NewRegistry()
	r, system := spawn(t, registry, a.component(t, first), b.component(t, second))
	if err := r.Watch(); err != nil {
		t.Skipf("files cannot be watched here: %v", err)
	}
	want := func(what string, wantA, wantB int64) {
		t.Helper()
		deadline := time.Now().Add(time.Minute)
		for a.built.Load() != wantA || b.built.Load() != wantB {
			if time.Now().After(deadline) {
				t.Fatalf("%s: a was built %d times and b %d times, want %d and %d", what, a.built.Load(), b.built.Load(), wantA, wantB)
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	change(first, "1")
	want("a file of a", 1, 0)
	change(second, "2")
	want("a file of b", 1, 1)
	b.dirs.Store(&[]string{second, third})
	change(second, "3")
	want("a version of b with another path", 1, 2)
	ended := func() bool { // with which the paths are watched
		d, ok := system.Detail(t.Context(), reload.Name).(reload.Detail)
		return ok && float64(d.Passes) == counter(t, registry, "reloads_total")
	}
	for deadline := time.Now().Add(time.Minute); !ended(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the pass does not end")
		}
	}
	change(third, "4")
	want("a file of the other path", 1, 3)
}
