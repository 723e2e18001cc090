package daemon

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

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
