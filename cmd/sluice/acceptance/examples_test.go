package acceptance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheDemoShowsWhatItPromises(t *testing.T) {
	if watched {
		t.Skip("the demo has another program built; the tests without a detector run it")
	}
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip(err)
	}
	r := newReader(t)
	// Read, so that a cached outcome is that of these sources.
	if err := os.CopyFS(filepath.Join(t.TempDir(), "bench"), os.DirFS(filepath.Join(root, "cmd", "bench"))); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(r.dir, "bin", "bench"), "github.com/sluicehq/sluice/cmd/bench")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build bench: %v\n%s", err, out)
	}
	cmd := command(t, "unused")
	cmd.Path, cmd.Args, cmd.Err = "/bin/sh", []string{"sh", "examples/demo/run.sh", "bin"}, nil
	cmd.Dir = r.dir
	got := finish(t, cmd, "")
	if got.code != 0 || got.stderr != "" {
		t.Fatalf("exit code %d, want 0 and no complaint:\n%s", got.code, got.stderr)
	}
	for _, want := range []string{
		"critical       Shadow Copies Deleted",
		"source.ip=203.0.113.9 | agg=3",
		`{"rule_title":"Shadow Copies Deleted","rule_id":"5b0f3c0a-8f0e-4c5e-9a55-0d6a3c7c1b02",`,
		"events_processed           13",
		"detection_matches          9",
		"correlation_matches        1",
	} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("output lacks %q:\n%s", want, got.stdout)
		}
	}
}

func TestTheDemoSaysWhyItDoesNotStart(t *testing.T) {
	r := newReader(t)
	cmd := command(t, "unused")
	cmd.Path, cmd.Args, cmd.Err = "/bin/sh", []string{"sh", "examples/demo/run.sh", "bin"}, nil
	cmd.Dir, cmd.Env = r.dir, append(cmd.Env, "SLUICE_DEMO_ADDR=192.0.2.1:80")
	got := finish(t, cmd, "")
	if got.code != 1 || !strings.Contains(got.stderr, "refusing to bind plaintext on 192.0.2.1:80") || !strings.Contains(got.stderr, "SLUICE_DEMO_ADDR") {
		t.Errorf("exit code %d, want 1 and a reason:\n%s", got.code, got.stderr)
	}
}

func TestTheExampleConfigurationServes(t *testing.T) {
	r := newReader(t)
	file := filepath.Join("examples", "config", "sluice.yaml")
	d := startIn(t, r.dir, "--config", file, "--api-addr", "127.0.0.1:0")
	d.push(`{"Image":"C:\\Windows\\System32\\vssadmin.exe","CommandLine":"vssadmin delete shadows"}`)
	var got struct {
		Event  map[string]any   `json:"event"`
		Time   string           `json:"timestamp"`
		Fields []map[string]any `json:"matched_fields"`
	}
	if err := json.Unmarshal([]byte(d.stdout.String()), &got); err != nil {
		t.Fatalf("output %q: %v", d.stdout, err)
	}
	if len(got.Event) != 2 || !isTime(got.Time) || len(got.Fields) != 2 || got.Fields[0]["matcher"] != "endswith" {
		t.Errorf("result %+v, want event, time and how it matched", got)
	}
	if n := d.metric(`svc_actor_mailbox_capacity{actor="evaluate"}`); n != 2048 {
		t.Errorf("mailbox of evaluate holds %v, want 2048", n)
	}
	d.stop()
	if _, err := os.Stat(filepath.Join(r.dir, "sluice-dead-letters.ndjson")); err != nil {
		t.Error(err)
	}
}
