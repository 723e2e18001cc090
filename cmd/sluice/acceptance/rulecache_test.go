package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startedFromCache reports whether no rule file was parsed at the start.
func (d *daemon) startedFromCache() bool {
	return strings.Contains(d.stderr.String(), "rules taken from the cache")
}

// A restart with unchanged files knows everything the first start knew.
func TestASecondStartTakesItsRulesFromTheCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules, state := filepath.Join(dir, "rules"), filepath.Join(dir, "state")
	write(t, rules, "good.yml", burst(2))
	write(t, rules, "bad.yml", "id: no title\n")
	low := write(t, rules, "low.yml", strings.Replace(rule("Low", "evil"), "level: high", "level: low", 1))
	exclude := []string{"--exclude-rule", "id-Low"}

	d := startWithState(t, rules, state, exclude...)
	first, gauge := d.get("/api/v1/rules").body, d.metric("svc_rules_rejected")
	d.stop()
	if d.startedFromCache() || gauge != 1 {
		t.Errorf("first start: from the cache %v, rejected %v, want false and 1", d.startedFromCache(), gauge)
	}

	d = startWithState(t, rules, state, exclude...)
	if got := d.get("/api/v1/rules").body; got != first || d.metric("svc_rules_rejected") != gauge {
		t.Errorf("rules from the cache: %s\nwant %s", got, first)
	}
	d.awaitLog("rule document rejected")
	d.push(evil("a"), evil("a"))
	d.stop()
	d.wantFired("2")
	if !d.startedFromCache() {
		t.Error("second start: not from the cache")
	}

	now := time.Now()
	if err := os.Chtimes(low, now, now); err != nil {
		t.Fatal(err)
	}
	d = startWithState(t, rules, state, exclude...)
	d.stop()
	if !d.startedFromCache() {
		t.Error("a touched file: not from the cache")
	}

	d = startWithState(t, rules, state)
	if d.startedFromCache() || d.get("/api/v1/status").json(t)["detection_rules"] != 2.0 {
		t.Errorf("without the exclusion: from the cache %v, want all rules loaded", d.startedFromCache())
	}
	if got := d.awaitLog("rule cache discarded")["reason"]; got != "options differ" {
		t.Errorf("discarded because %q, want %q", got, "options differ")
	}
	// A reload stores what it loaded.
	replace(t, rules, "low.yml", rule("Other", "evil"))
	d.await("the end of the reload", func() bool { return strings.Contains(d.get("/api/v1/actors/reload").body, `"last_pass"`) })
	d.stop()
	d = startWithState(t, rules, state)
	d.push(evil("a"))
	d.stop()
	if !d.startedFromCache() || !strings.Contains(d.stdout.String(), `"rule_title":"Other"`) {
		t.Errorf("after a reload: from the cache %v, results\n%s\nwant those of Other", d.startedFromCache(), d.stdout)
	}

	got := sluice(t, "", "engine", "daemon", "-r", rules, "--state-db", state, "--strict-rules", "--api-addr", "127.0.0.1:0")
	if got.code != 2 || !strings.Contains(got.stderr, "title") {
		t.Errorf("strict rules over a cache with a rejected document: code %d, want 2\n%s", got.code, got.stderr)
	}
}
