package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestAnotherValueIsInTheRulesWithoutAReload(t *testing.T) {
	for _, cached := range []bool{false, true} {
		t.Run(fmt.Sprintf("from the rule cache %t", cached), func(t *testing.T) {
			f := newFeed(t, fileFeed(""))
			if cached {
				f.cfg.Config.Daemon.State.DB = f.path("state")
				f.start()
				f.stop()
			}
			f.start()
			if f.serving.Load().cached != cached {
				t.Fatalf("the documents come from the cache: %t, want %t", !cached, cached)
			}
			f.write("f.json", `["evil"]`)
			f.resolve()
			f.eventually("the rebuild", func() bool { return f.detects("evil.exe") })
			if f.detects("mal.exe") {
				t.Error("the value before is in the rules")
			}
			if n := f.series("svc_reloads_total"); n != 0 {
				t.Errorf("%g reloads, want none", n)
			}
			generation := f.serving.Load().set.Generation
			f.resolve() // the same value again
			f.write("f.json", " [ \"evil\" ] ")
			f.resolve()
			f.write("f.json", `["last"]`)
			f.resolve()
			f.eventually("the rebuild", func() bool { return f.detects("last.exe") })
			if got := f.serving.Load().set.Generation; got != generation+1 {
				t.Errorf("generation %d, want %d: equal values change nothing", got, generation+1)
			}
		})
	}
}

func TestAnOptionalSourceThatFailsIsNull(t *testing.T) {
	f := newFeed(t, fileFeed(", on_error: fail, required: false")).start()
	f.remove("f.json")
	f.resolve()
	f.eventually("the rebuild", func() bool { return !f.detects("mal.exe") })
	if !f.health.Ready() {
		t.Error("the daemon is not ready")
	}
}

func TestARequiredSourceThatFailsKeepsTheRules(t *testing.T) {
	f := newFeed(t, fileFeed(", on_error: fail")).start()
	f.remove("f.json")
	f.resolve()
	if !f.detects("mal.exe") || !f.health.Ready() {
		t.Error("a refresh that fails changes something")
	}
	f.write("rules/b.yml", "title: New\ndetection: {s: {CommandLine|contains: new}, condition: s}\n")
	f.reload()
	if f.health.Ready() {
		t.Error("the daemon is ready after a reload without a required source")
	}
	if !f.detects("mal.exe") || f.detects("new.exe") {
		t.Error("the rules before do not serve")
	}
	if got := f.call("GET", "/api/v1/status", ""); !strings.Contains(got, "source 'f': fetch failed: failed to read") {
		t.Errorf("the outcome does not name the source: %s", got)
	}
	f.write("f.json", `["back"]`)
	f.reload()
	if !f.health.Ready() || !f.detects("back.exe") || !f.detects("new.exe") {
		t.Error("the reload after does not take the value and the rule")
	}
	if failed := f.series("svc_reloads_failed_total"); failed != 1 {
		t.Errorf("%g failed reloads, want 1", failed)
	}
}

func TestAReloadThatFailsChangesNoValue(t *testing.T) {
	f := newFeed(t, fileFeed("")).start()
	f.write("f.json", `["evil"]`)
	f.write("rules/b.yml", "title: Broken\n")
	f.reload()
	if got := string(f.sources.Client().Snapshot().Values()["f"].JSON); got != `["mal"]` {
		t.Errorf("after a reload that failed the value is %s", got)
	}
	if !f.detects("mal.exe") || f.detects("evil.exe") {
		t.Error("the rules before do not serve")
	}
	f.resolve()
	f.eventually("the rebuild", func() bool { return f.detects("evil.exe") })
	if f.health.Ready() {
		t.Error("a rebuild makes the daemon ready again")
	}
	f.remove("rules/b.yml")
	f.reload()
	if !f.health.Ready() || !f.detects("evil.exe") {
		t.Error("the reload after does not serve")
	}
}

func TestARebuildThatFailsIsNoReload(t *testing.T) {
	f := newFeed(t, fileFeed(""))
	f.write("p.yml", "vars: {bad: [mal]}\ntransformations:\n  - {type: value_placeholders}\n  - {include: f}\n")
	f.write("f.json", `[]`)
	f.start()
	f.write("f.json", `[{"type":"nonsense"}]`)
	f.resolve()
	f.eventually("the failure", func() bool { return f.series("svc_reloads_failed_total") == 1 })
	if !f.health.Ready() || !f.detects("mal.exe") || f.series("svc_reloads_total") != 0 || f.series("svc_last_reload_successful") != 1 {
		t.Error("a rebuild that failed counts as a reload")
	}
	if got := f.log.String(); !strings.Contains(got, "rebuild failed") || !strings.Contains(got, "sources=f") || !strings.Contains(got, "source 'f'") {
		t.Errorf("the log does not name the source:\n%s", got)
	}
	f.write("f.json", `[{"type":"field_name_prefix","prefix":"p."}]`)
	f.resolve()
	f.eventually("the rebuild after the next change", func() bool { return !f.detects("mal.exe") })
}

func TestAReloadFetchesEachSourceOnceAndAfterItsTrigger(t *testing.T) {
	f := newFeed(t, fileFeed("")).start()
	f.write("f.json", `["evil"]`)
	f.reload()
	if n := f.series(resolves); n != 2 {
		t.Errorf("%g fetches, want that of the start and one of the reload", n)
	}
	if !f.detects("evil.exe") {
		t.Error("the reload did not take the value")
	}
}

func TestARoundIsGivenUpWithItsContext(t *testing.T) {
	f := newFeed(t, hangingFeed).start()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := f.sources.Client().Fetch(over); !errors.Is(err, context.Canceled) {
		t.Errorf("a round that nobody waits for ends with %v", err)
	}
	if n := f.series(`svc_source_resolves_total{source_id="f",source_type="command"}`); n != 1 {
		t.Errorf("%g fetches, want that of the start alone", n)
	}
	f.write("hang", "")
	ctx, cancel := context.WithCancel(t.Context())
	given := make(chan error, 1)
	go func() { _, err := f.sources.Client().Fetch(ctx); given <- err }()
	f.eventually("the fetch", func() bool { return f.exists("begun") })
	cancel()
	if err := <-given; !errors.Is(err, context.Canceled) {
		t.Errorf("a round that is given up ends with %v", err)
	}
}
