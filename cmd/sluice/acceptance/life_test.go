package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAFiniteInputIsDrainedAndEndsTheDaemon(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	cmd := command(t, "engine", "daemon", "-r", dir, "--api-addr", "127.0.0.1:0", "--drain-timeout", "60")
	got := finish(t, cmd, event("evil one")+"\n\nnot json at all\r\n"+event("fine")+"\n"+event("EVIL two"))
	want := resultLine("A", "evil one") + "\n" + resultLine("A", "EVIL two") + "\n"
	if got.code != 0 || got.stdout != want {
		t.Errorf("code %d, results\n%s\nwant 0 and\n%s\nlog\n%s", got.code, got.stdout, want, got.stderr)
	}
}

func TestAnEmptyInputIsACleanExit(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	got := sluice(t, "", "engine", "daemon", "-r", dir, "--api-addr", "127.0.0.1:0")
	if got.code != 0 || got.stdout != "" {
		t.Errorf("code %d, output %q, want 0 and nothing\n%s", got.code, got.stdout, got.stderr)
	}
}

func TestABrokenDocumentLeavesTheOthersServing(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	write(t, dir, "b.yml", "id: x\n")
	d := start(t, "-r", dir, "--input", "http")
	if got := d.metric("svc_rules_rejected"); got != 1 {
		t.Errorf("svc_rules_rejected %v, want 1", got)
	}
	rules := d.get("/api/v1/rules").json(t)
	if fmt.Sprint(rules["detection_rules"]) != "1" || !strings.Contains(fmt.Sprint(rules["rejected"]), "Missing required field 'title'") {
		t.Errorf("rules %v", rules)
	}
	reload := func(ready bool) {
		t.Helper()
		before := d.metric("svc_reloads_total")
		if a := d.do("POST", "/api/v1/reload", ""); a.status != 200 || strings.TrimSpace(a.body) != `{"status":"reload_triggered"}` {
			t.Fatalf("reload: %d %s", a.status, a.body)
		}
		d.await("reload pass", func() bool { return d.metric("svc_reloads_total") > before && !d.reloading() })
		want := map[bool]int{true: 200, false: 503}[ready]
		d.await(fmt.Sprintf("readiness %d", want), func() bool { return d.get("/readyz").status == want })
	}
	reload(true) // a document rejected before does not fail a pass
	replace(t, dir, "c.yml", "title: C\ndetection: {sel: {C|foo: x}, condition: sel}\n")
	d.await("failed pass", func() bool { return d.metric("svc_reloads_failed_total") >= 1 })
	if d.get("/readyz").status != 503 || d.metric("svc_rules_rejected") != 1 {
		t.Error("a newly rejected document must turn readiness off and leave the gauge alone")
	}
	d.push(event("evil"))
	if got := d.stdout.String(); got != resultLine("A", "evil")+"\n" {
		t.Errorf("results %q: the old rules must go on", got)
	}
	if err := os.Remove(filepath.Join(dir, "c.yml")); err != nil {
		t.Fatal(err)
	}
	d.await("ready again", func() bool { return d.get("/readyz").status == 200 })
	d.stop()
}

// reloading reports whether a pass is waiting or under way.
func (d *daemon) reloading() bool {
	a := d.get("/api/v1/actors/reload")
	return a.status != 200 || !strings.Contains(a.body, `"depth":0`)
}

func TestRulesFollowTheirFiles(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(t *testing.T, dir string)
	}{
		{"written in place", func(t *testing.T, dir string) { t.Helper(); write(t, dir, "a.yml", rule("B", "evil")) }},
		{"renamed over, as editors do", func(t *testing.T, dir string) {
			t.Helper()
			tmp := write(t, dir, ".a.yml.swp", rule("B", "evil"))
			if err := os.Rename(tmp, filepath.Join(dir, "a.yml")); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "a.yml", rule("A", "evil"))
			d := start(t, "-r", dir, "--input", "http")
			tc.change(t, dir)
			d.await("pass", func() bool { return d.metric("svc_reloads_total") >= 1 })
			d.await("new rule", func() bool {
				d.push(event("evil"))
				return strings.Contains(d.stdout.String(), `"rule_title":"B"`)
			})
			d.stop()
		})
	}
}

func TestRulesInAMountedVolumeFollowItsSwap(t *testing.T) {
	dir := t.TempDir()
	volume := func(name, content string) {
		write(t, dir, name+"/a.yml", content)
		link := filepath.Join(dir, "..data_tmp")
		if err := os.Symlink(name, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	volume("..2026_1", rule("A", "evil"))
	if err := os.Symlink("..data/a.yml", filepath.Join(dir, "a.yml")); err != nil {
		t.Fatal(err)
	}
	d := start(t, "-r", dir, "--input", "http")
	volume("..2026_2", rule("B", "evil"))
	d.await("pass", func() bool { return d.metric("svc_reloads_total") >= 1 })
	d.await("new rule", func() bool {
		d.push(event("evil"))
		return strings.Contains(d.stdout.String(), `"rule_title":"B"`)
	})
	if strings.Count(d.get("/api/v1/rules").body, `"detection_rules":1`) != 1 {
		t.Errorf("rules %s, want one: files behind dot entries are read through their links only", d.get("/api/v1/rules").body)
	}
	loads := func() int { return strings.Count(d.stderr.String(), `"message":"rules loaded"`) }
	d.await("the log of both", func() bool { return loads() == 2 }) // it is written behind what it tells
	passes := d.metric("svc_reloads_total")
	volume("..2026_3", rule("B", "evil"))
	d.await("pass over a copy", func() bool { return d.metric("svc_reloads_total") > passes && !d.reloading() })
	if got := loads(); got != 2 {
		t.Errorf("rules were loaded %d times, want 2: the copy is equal", got)
	}
	d.stop()
}

func TestSIGHUPReloads(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	d := start(t, "-r", dir, "--input", "http")
	d.signal(syscall.SIGHUP)
	d.await("pass", func() bool { return d.metric("svc_reloads_total") == 1 })
	if got := d.metric("svc_reloads_failed_total"); got != 0 {
		t.Errorf("failed passes %v, want 0", got)
	}
	d.stop()
}

func TestSeriesOfARuleEndWithTheSecondReloadWithoutIt(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	d := start(t, "-r", dir, "--input", "http")
	d.push(event("evil"))
	present := func() bool {
		return strings.Contains(d.get("/metrics").body, `svc_detection_matches_by_rule_total{level="high",rule_title="A"}`)
	}
	d.await("series", present)
	replace(t, dir, "a.yml", rule("B", "evil"))
	d.await("another rule", func() bool {
		return strings.Contains(d.stderr.String(), `"message":"reload finished"`) && !d.reloading()
	})
	if gone := !present(); gone && d.metric("svc_reloads_total") == 1 {
		t.Error("the series went with the first reload")
	}
	d.do("POST", "/api/v1/reload", "") // which finds nothing changed
	d.await("the end of the series", func() bool { return !present() })
	d.stop()
}

func TestSeveralTriggersShareAPass(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	d := start(t, "-r", dir, "--input", "http")
	for i := range 5 {
		replace(t, dir, fmt.Sprintf("n%d.yml", i), rule(fmt.Sprintf("N%d", i), "evil"))
		d.do("POST", "/api/v1/reload", "")
	}
	d.await("six rules", func() bool { return d.metric("svc_detection_rules_loaded") == 6 })
	// One, unless this machine held the test up; the exact rule is shown in virtual time.
	if got := d.metric("svc_reloads_total"); got >= 10 {
		t.Errorf("%v passes for ten triggers", got)
	}
	d.stop()
}
