package daemon

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/inputs"
	"github.com/sluicehq/sluice/internal/logtest"
)

// feed is a daemon with a rule that looks for what the file f.json lists.
type feed struct {
	*Daemon
	t   *testing.T
	dir string
	cfg *config.Loaded
	log *logtest.Buffer
}

const feedRule = "title: Bad\ndetection: {s: {CommandLine|contains: '%bad%'}, condition: s}\n"

// fileFeed declares f as that file, with more keys.
func fileFeed(more string) func(dir string) string {
	return func(dir string) string {
		return fmt.Sprintf("sources:\n  - {id: f, type: file, format: json, path: %q%s}\n", filepath.Join(dir, "f.json"), more)
	}
}

// hangingFeed declares f as a command that reads the file and, once there is a file hang,
// makes a file begun and hangs.
func hangingFeed(dir string) string {
	return fmt.Sprintf("sources:\n  - {id: f, type: command, format: json, command: [sh, -c, '[ -e %[1]s/hang ] && touch %[1]s/begun && sleep 600; cat %[1]s/f.json']}\n", dir)
}

// newFeed writes the files of such a daemon, which start starts.
func newFeed(t *testing.T, declarations func(dir string) string) *feed {
	t.Helper()
	f := &feed{t: t, dir: t.TempDir(), log: &logtest.Buffer{}}
	f.write("rules/a.yml", feedRule)
	f.write("p.yml", "vars: {bad: \"${source.f}\"}\ntransformations:\n  - {type: value_placeholders}\n")
	f.write("f.json", `["mal"]`)
	f.write("sources.yml", declarations(f.dir))
	f.cfg = &config.Loaded{Config: config.Default()}
	c := &f.cfg.Config.Daemon
	c.Rules, c.Input.Sources, c.API.Addr = []string{f.path("rules")}, []string{"http"}, "127.0.0.1:0"
	c.Pipelines, c.Sources = []string{f.path("p.yml")}, []string{f.path("sources.yml")}
	return f
}

func (f *feed) path(name string) string { return filepath.Join(f.dir, name) }

func (f *feed) write(name, text string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.WriteFile(f.path(name)+"~", []byte(text), 0o644); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Rename(f.path(name)+"~", f.path(name)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *feed) remove(name string) {
	f.t.Helper()
	if err := os.Remove(f.path(name)); err != nil {
		f.t.Fatal(err)
	}
}

// start starts the daemon, which ends with the test.
func (f *feed) start() *feed {
	f.t.Helper()
	d, err := f.new()
	if err != nil {
		f.t.Fatal(err)
	}
	f.Daemon = d
	f.t.Cleanup(f.stop)
	if err := d.Start(); err != nil {
		f.t.Fatal(err)
	}
	d.reloader.Close() // a change of a rule that is noticed late would be a reload more
	return f
}

func (f *feed) new() (*Daemon, error) {
	return New(f.t.Context(), Options{Config: f.cfg, Log: slog.New(slog.NewTextHandler(f.log, nil)), Out: io.Discard, Err: io.Discard})
}

// stop ends the daemon, unless it has ended.
func (f *feed) stop() {
	if f.Daemon == nil {
		return
	}
	if err := f.Stop(); err != nil {
		f.t.Error(err)
	}
	f.Daemon = nil
}

// series is the value of a series, 0 when it is not there.
func (f *feed) series(name string) float64 {
	f.t.Helper()
	for line := range strings.Lines(f.call("GET", "/metrics", "")) {
		if rest, ok := strings.CutPrefix(line, name+" "); ok {
			v, err := strconv.ParseFloat(strings.TrimSpace(rest), 64)
			if err != nil {
				f.t.Fatal(err)
			}
			return v
		}
	}
	return 0
}

const (
	resolves = `svc_source_resolves_total{source_id="f",source_type="file"}`
	failures = `svc_source_resolve_errors_total{error_kind="Fetch",source_id="f"}`
	stamp    = `svc_source_last_resolved_timestamp{source_id="f"}`
)

// resolve has all sources fetched and waits until they are.
func (f *feed) resolve() {
	f.t.Helper()
	before := f.series(resolves)
	if got, err := f.sources.Client().Resolve(f.t.Context(), ""); got != sources.Accepted || err != nil {
		f.t.Fatalf("resolve: %s, %v", got, err)
	}
	f.eventually("the fetch", func() bool { return f.series(resolves) == before+1 })
}

func (f *feed) eventually(what string, done func() bool) {
	f.t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			f.t.Fatalf("%s did not happen; the log is\n%s", what, f.log)
		}
	}
}

// detects reports whether an event with this command line is a detection.
func (f *feed) detects(command string) bool {
	f.t.Helper()
	const detections = "svc_detection_matches_total"
	sum := func() (n float64) {
		for line := range strings.Lines(f.call("GET", "/metrics", "")) {
			if strings.HasPrefix(line, detections) {
				v, _ := strconv.ParseFloat(line[strings.LastIndexByte(line, ' ')+1:len(line)-1], 64)
				n += v
			}
		}
		return n
	}
	before := sum()
	f.call("POST", "/api/v1/events?commit=true", fmt.Sprintf(`{"CommandLine":%q}`, command))
	return sum() > before
}

func (f *feed) reload() {
	f.t.Helper()
	before := f.series("svc_reloads_total")
	f.Reload(reload.API, "request")
	f.eventually("the reload", func() bool {
		return f.series("svc_reloads_total") == before+1 && !strings.Contains(f.call("GET", "/api/v1/status", ""), `"reload_pending":true`)
	})
}

func TestAFileThatIsGoneLeavesTheLastValue(t *testing.T) {
	f := newFeed(t, fileFeed("")).start()
	if !f.detects("mal.exe") {
		t.Fatal("the value of the start is not in the rules")
	}
	at := f.series(stamp)
	f.remove("f.json")
	f.resolve()
	if !f.detects("mal.exe") {
		t.Error("the last value is not in the rules any more")
	}
	if hits, failed, now := f.series("svc_source_cache_hits_total"), f.series(failures), f.series(stamp); hits != 1 || failed != 1 || now != at {
		t.Errorf("%g cache hits, %g failures, resolved at %f; want 1, 1 and %f", hits, failed, now, at)
	}
	if got := f.call("GET", "/api/v1/status", ""); !strings.Contains(got, `"dynamic_sources":{"total":1,"resolves_total":2,"errors_total":1,"cache_hits":1}`) {
		t.Errorf("the status is %s", got)
	}
}

func TestTheSameValueInAnotherSpellingIsNoRebuild(t *testing.T) {
	f := newFeed(t, fileFeed(""))
	f.write("p.yml", "vars: {bad: \"${source.f.list}\"}\ntransformations:\n  - {type: value_placeholders}\n")
	f.write("f.json", `{"list":["mal"],"of":{"day":1,"month":2}}`)
	f.start()
	f.write("f.json", "{\n \"of\": {\"month\": 2, \"day\": 1},\n \"list\": [\"mal\"]\n}\n")
	f.resolve()
	f.write("f.json", `{"list":["evil"],"of":{"day":1,"month":2}}`)
	f.resolve()
	f.eventually("the rebuild", func() bool { return f.detects("evil.exe") })
	if got := strings.Count(f.log.String(), "rules rebuilt"); got != 1 {
		t.Errorf("%d rebuilds, want one, of the other value:\n%s", got, f.log)
	}
}

func (f *feed) link(to, name string) {
	f.t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.path(name)), 0o755); err != nil {
		f.t.Fatal(err)
	}
	if err := os.Symlink(to, f.path(name)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *feed) rename(from, to string) {
	f.t.Helper()
	if err := os.Rename(f.path(from), f.path(to)); err != nil {
		f.t.Fatal(err)
	}
}

func (f *feed) exists(name string) bool {
	_, err := os.Stat(f.path(name))
	return err == nil
}

func specs(t *testing.T, texts []string) []inputs.Spec {
	t.Helper()
	return inputs.Parse(texts, nil, func(_ int, err error) { t.Error(err) })
}
