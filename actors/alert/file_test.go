package alert

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sluicehq/sluice/actors"
)

// loaded writes a file and returns what a stage is given.
func loaded(t *testing.T, path, text string) func(*Options) {
	t.Helper()
	write(t, path, text)
	return func(o *Options) {
		f, err := Load(path, o.Log)
		if err != nil {
			t.Fatal(err)
		}
		o.File = f
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// renew carries out what a reload does with the component.
func (r *rig) renew() error {
	r.tb.Helper()
	c := r.Feature().Components[0]
	publish, err := c.Build(r.tb.Context())
	switch {
	case errors.Is(err, actors.ErrUnchanged):
		return c.Unchanged(r.tb.Context())
	case err != nil:
		return err
	}
	return publish(r.tb.Context())
}

func TestAReloadTakesUpTheFileAsAWholeOrNotAtAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "alerts.yml")
		const first = "silences: [{id: s, matchers: [{selector: rule, value: a}]}]\n"
		r := newRig(t, "", loaded(t, path, first)).spawn()
		r.add(spec("rule", "x"))
		for _, step := range []struct {
			name, text, fault string
			list              string
		}{
			{"another silence", strings.Replace(first, "value: a", "value: b", 1), "", "static:b:active api:x:active"},
			{"a key that is not known", first + "group: {by: [rule], wait: 1s}\n", path + ":2: unknown field 'group.wait' (valid here: ", "static:b:active api:x:active"},
			{"no file any more", "", "cannot be read", "static:b:active api:x:active"},
			{"one that is as it was", strings.Replace(first, "value: a", "value: b", 1), "", "static:b:active api:x:active"},
			{"none in the file", "{}", "", "api:x:active"},
			{"a warning", "group: {by: [rule], group_wait: 500ms}", "", "api:x:active"},
		} {
			if step.text == "" {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			} else {
				write(t, path, step.text)
			}
			err := r.renew()
			if (err == nil) != (step.fault == "") || err != nil && !strings.Contains(err.Error(), step.fault) {
				t.Errorf("%s: got %v, want %q", step.name, err, step.fault)
			}
			r.wantList(step.list)
		}
		if got := r.log.Matching("level=WARN", "group.group_wait", path); len(got) != 1 {
			t.Errorf("logged %q, want one warning of group_wait", r.log.Matching("WARN"))
		}
	})
}

func TestAnUnchangedFileHasItsSilencesAppliedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "alerts.yml")
		r := newRig(t, "", loaded(t, path, "silences: [{id: s, matchers: [{selector: rule, value: a}]}]")).spawn()
		if _, err := r.client.DeleteSilence(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		r.wantList("")
		if err := r.renew(); err != nil {
			t.Fatal(err)
		}
		r.wantList("static:a:active")
	})
}

func TestEveryFaultOfAFileIsToldWithItsLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "alerts.yml")
	write(t, path, "colour: 1\ndedup:\n  fingerprint: [bogus.x]\n  fingerprints: []\n")
	_, err := Load(path, nil)
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{path + ":1: ", "colour", path + ":3: ", "dedup.fingerprint", "bogus.x", path + ":4: ", "max_active_alerts) (did you mean 'fingerprint'?)"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s in it", err, want)
		}
	}
	if _, faults := Check(path); len(faults) != 3 {
		t.Errorf("%d faults, want 3", len(faults))
	}
	if f, err := Load("", nil); f != nil || err != nil {
		t.Errorf("without a path: %v, %v, want none", f, err)
	}
}

func TestTheFileIsWatched(t *testing.T) {
	if got := Watched(""); got != nil {
		t.Errorf("%v, want none", got)
	}
	if got := Watched("a.yml"); len(got) != 1 || !slices.Equal(got[0].Paths(), []string{"a.yml"}) {
		t.Errorf("%v, want a.yml", got)
	}
}
