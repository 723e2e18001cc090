package daemon

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/sources/fetch"
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

func TestAStartWithoutARequiredSourceEndsUnlessItsValueIsStored(t *testing.T) {
	f := newFeed(t, func(dir string) string {
		return fileFeed("")(dir) + fmt.Sprintf("  - {id: g, type: file, format: json, path: %q}\n", dir+"/g.json")
	})
	f.cfg.Config.Daemon.State.DB = f.path("state")
	f.remove("f.json")
	_, err := f.new()
	if codeOf(err) != exitConfig || !strings.Contains(err.Error(), "source 'f': fetch failed") || !strings.Contains(err.Error(), "source 'g': fetch failed") {
		t.Fatalf("the start without any value says %v", err)
	}
	if got := f.log.String(); strings.Count(got, "level=ERROR") != 2 {
		t.Errorf("want an error for each source, got\n%s", got)
	}
	f.write("f.json", `["mal"]`)
	f.write("g.json", `1`)
	f.start()
	f.stop()
	f.remove("f.json")
	f.start()
	if !f.detects("mal.exe") {
		t.Error("the stored value is not in the rules")
	}
	if hits := f.series("svc_source_cache_hits_total"); hits < 1 || f.series(stamp) != 0 {
		t.Errorf("%g cache hits, resolved at %f; want one at least, and never", hits, f.series(stamp))
	}
	if got := f.call("GET", "/api/v1/status", ""); !strings.Contains(got, `"stored":["f"]}`) {
		t.Errorf("the status does not name the stored value: %s", got)
	}
	f.write("f.json", `["evil"]`)
	f.eventually("the rebuild after a retry", func() bool { return f.detects("evil.exe") })
	if got := f.call("GET", "/api/v1/status", ""); strings.Contains(got, `"stored"`) {
		t.Errorf("the status names a stored value behind a fetch: %s", got)
	}
	f.stop()
	f.remove("f.json")
	f.write("sources.yml", strings.Replace(fileFeed("")(f.dir), "json, path", "lines, path", 1)) // whose values have another shape
	if _, err := f.new(); codeOf(err) != exitConfig {
		t.Fatalf("a value of another declaration is used: %v", err)
	}
	f.write("sources.yml", fileFeed("")(f.dir))
	if _, err := f.new(); codeOf(err) != exitConfig {
		t.Fatalf("the value of a declaration that was another in between is used: %v", err)
	}
}

func TestAServerThatIsGoneAtARestart(t *testing.T) {
	for _, tc := range []struct {
		name, more string
		starts     bool
		detects    bool
	}{
		{"the last value", "", true, true},
		{"the last value of an optional source", ", required: false", true, true},
		{"the default", `, on_error: use_default, default: ["mal"]`, true, true},
		{"no value of an optional source", ", on_error: fail, required: false", true, false},
		{"no value of a required source", ", on_error: fail", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `["mal"]`) }))
			f := newFeed(t, func(string) string {
				return fmt.Sprintf("sources:\n  - {id: f, type: http, format: json, url: %q%s}\n", server.URL, tc.more)
			})
			f.cfg.Config.Daemon.State.DB = f.path("state")
			f.start()
			f.stop()
			server.Close()
			d, err := f.new()
			if (err == nil) != tc.starts {
				t.Fatalf("the start says %v", err)
			}
			if err != nil {
				return
			}
			f.Daemon = d
			f.t.Cleanup(f.stop)
			if err := d.Start(); err != nil {
				t.Fatal(err)
			}
			if f.detects("mal.exe") != tc.detects {
				t.Errorf("detected: %t, want %t", !tc.detects, tc.detects)
			}
		})
	}
}

func TestTwoRequestsAtOnceAreOneFetch(t *testing.T) {
	f := newFeed(t, func(dir string) string {
		return fmt.Sprintf("sources:\n  - {id: f, type: command, format: json, command: [sh, -c, 'if [ -e %[1]s/hold ]; then touch %[1]s/begun; while [ -e %[1]s/hold ]; do sleep 0.01; done; fi; cat %[1]s/f.json']}\n", dir)
	}).start()
	f.write("hold", "")
	for i, want := range []sources.Resolution{sources.Accepted, sources.Pending} {
		if got, err := f.sources.Client().Resolve(t.Context(), "f"); got != want || err != nil {
			t.Errorf("request %d: %s, %v; want %s", i+1, got, err, want)
		}
	}
	f.write("f.json", `["evil"]`)
	f.remove("hold")
	f.eventually("the rebuild", func() bool { return f.detects("evil.exe") })
	f.eventually("the end of the fetch", func() bool {
		got, err := f.sources.Client().Resolve(t.Context(), "f")
		return got == sources.Accepted && err == nil
	})
}

func TestRequestsForSourcesThatNobodyDeclares(t *testing.T) {
	f := newFeed(t, fileFeed("")).start()
	c := f.sources.Client()
	if got, err := c.Resolve(t.Context(), "nope"); got != sources.Unknown || err != nil {
		t.Errorf("resolve: %s, %v", got, err)
	}
	if err := c.Invalidate(t.Context(), "nope"); err != nil {
		t.Errorf("invalidate: %v", err)
	}
	var none *sources.Client
	if got, err := none.Resolve(t.Context(), "nope"); got != sources.None || err != nil {
		t.Errorf("without sources: %s, %v", got, err)
	}
	if err := none.Invalidate(t.Context(), "nope"); err != nil || len(none.List()) != 0 {
		t.Errorf("without sources: %v, %v", err, none.List())
	}
}

func TestADroppedValueIsNoFallback(t *testing.T) {
	f := newFeed(t, fileFeed(", required: false"))
	f.cfg.Config.Daemon.State.DB = f.path("state")
	f.start()
	if err := f.sources.Client().Invalidate(t.Context(), "f"); err != nil {
		t.Fatal(err)
	}
	if !f.detects("mal.exe") {
		t.Error("the rules lost their value")
	}
	f.remove("f.json")
	f.stop()
	f.start()
	if f.detects("mal.exe") {
		t.Error("a value that was dropped is there after a restart")
	}
}

func TestTheServerOfTheControlSubject(t *testing.T) {
	declared := []*fetch.Declaration{{Type: fetch.File}, {Type: fetch.NATS, URL: "tls://source:4222"}, {Type: fetch.NATS, URL: "nats://other:4222"}}
	for _, tc := range []struct {
		name          string
		inputs, sinks []string
		declared      []*fetch.Declaration
		want          string
	}{
		{"the input goes first", []string{"http", "nats://in:4222/a.>"}, []string{"nats://out:4222/a"}, declared, "nats://in:4222"},
		{"then the first source", []string{"http"}, []string{"nats://out:4222/a"}, declared, "tls://source:4222"},
		{"then the first sink", []string{"http"}, []string{"stdout", "nats://out:4222/a"}, declared[:1], "nats://out:4222"},
		{"none", []string{"http"}, nil, declared[:1], ""},
	} {
		f := newFeed(t, fileFeed(""))
		f.cfg.Config.Daemon.Output.Sinks = tc.sinks
		if got := controlServer(specs(t, tc.inputs), tc.declared, f.cfg.Config.Daemon.Output); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}

func TestFileSwappedAsKubernetesDoes(t *testing.T) {
	f := newFeed(t, func(dir string) string {
		return fmt.Sprintf("sources:\n  - {id: f, type: file, format: json, refresh: watch, required: false, path: %q}\n", dir+"/mount/f.json")
	})
	volume := func(name, text string) {
		f.write("mount/"+name+"/f.json", text)
		f.link(name, "mount/..new")
		f.rename("mount/..new", "mount/..data")
	}
	f.start()
	if f.detects("mal.exe") {
		t.Fatal("a file that is not there has a value")
	}
	volume("..v1", `["mal"]`)
	f.link("..data/f.json", "mount/f.json")
	f.eventually("the late file", func() bool { return f.detects("mal.exe") })
	volume("..v2", `["evil"]`)
	f.eventually("the swap", func() bool { return f.detects("evil.exe") && !f.detects("mal.exe") })
	before := f.series(resolves)
	f.remove("mount/f.json")
	f.link("..data/f.json", "mount/f.json")
	f.eventually("the file that is there again", func() bool { return f.series(resolves) > before })
	if n := f.series(failures); n != 1 { // that of the start
		t.Errorf("%g failures, want that of the start alone", n)
	}
}

// What happens to a file between its first fetch and its being watched is not missed.
func TestAWatchedFileThatChangesWhileTheDaemonStarts(t *testing.T) {
	f := newFeed(t, func(dir string) string {
		return fmt.Sprintf("sources:\n  - {id: f, type: file, format: json, refresh: watch, path: %q}\n", dir+"/f.json")
	})
	f.write("f.json", `["mal"]`)
	d, err := f.new()
	if err != nil {
		t.Fatal(err)
	}
	f.Daemon = d
	t.Cleanup(f.stop)
	f.write("f.json", `["evil"]`)
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	f.eventually("the value that came while it started", func() bool { return f.detects("evil.exe") && !f.detects("mal.exe") })
}

func TestSourcesEndWithTheDaemon(t *testing.T) {
	f := newFeed(t, hangingFeed).start()
	f.write("hang", "")
	if _, err := f.sources.Client().Resolve(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	f.eventually("the fetch", func() bool { return f.exists("begun") })
	begin := time.Now()
	f.stop()
	if took := time.Since(begin); took > 30*time.Second {
		t.Errorf("the end took %s", took)
	}
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

func TestThePolicyForIncludesFromOtherHosts(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `[{"type":"field_name_prefix","prefix":"p."}]`)
	}))
	defer server.Close()
	f := newFeed(t, func(string) string {
		return fmt.Sprintf("sources:\n  - {id: f, type: http, format: json, url: %q}\n", server.URL)
	})
	f.write("p.yml", "vars: {bad: [mal]}\ntransformations:\n  - {type: value_placeholders}\n  - {include: \"${source.f}\"}\n")
	_, err := f.new()
	if codeOf(err) != exitConfig || !strings.Contains(err.Error(), "--allow-remote-include") || !strings.Contains(err.Error(), "'f'") {
		t.Fatalf("the start says %v", err)
	}
	f.cfg.Config.Daemon.Engine.AllowRemoteInclude = true
	f.start()
	if f.detects("mal.exe") {
		t.Error("the include has no effect")
	}
}

func TestFaultyDeclarationsEndTheStart(t *testing.T) {
	f := newFeed(t, fileFeed(", refresh: sometimes"))
	_, err := f.new()
	if codeOf(err) != exitConfig || !strings.HasPrefix(err.Error(), "Error loading external sources: ") {
		t.Errorf("the start says %v", err)
	}
	f.write("sources.yml", fileFeed("")(f.dir)+"  - {id: f, type: file, format: json, path: x}\n")
	if _, err = f.new(); codeOf(err) != exitConfig || !strings.HasPrefix(err.Error(), "Source ID collision: source ID 'f' declared in both external:") {
		t.Errorf("the start says %v", err)
	}
	f.write("sources.yml", "sources: []\n")
	if _, err = f.new(); codeOf(err) != exitConfig || !strings.Contains(err.Error(), "pipeline references undeclared source(s): f") {
		t.Errorf("the start says %v", err)
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
