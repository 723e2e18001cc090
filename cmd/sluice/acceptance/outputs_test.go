package acceptance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
)

// sinks are the labels of the sinks that a daemon has.
func (d *daemon) sinks() (labels []string) {
	d.t.Helper()
	actors, _ := d.get("/api/v1/actors").json(d.t)["actors"].([]any)
	for _, a := range actors {
		if a := a.(map[string]any); a["kind"] == "sink" {
			labels = append(labels, a["name"].(string))
		}
	}
	return labels
}

func TestWithoutAnOutputResultsGoToStandardOutput(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rules, out := write(t, dir, "r.yml", rule("A", "evil")), filepath.Join(dir, "out")
	line := resultLine("A", "evil")
	for _, tc := range []struct {
		name         string
		args         []string
		config       string
		sinks        []string
		stdout, file []string
	}{
		{"nothing is said", nil, "{}", []string{"sink:stdout"}, []string{line}, nil},
		{"an empty list is nothing", nil, "{daemon: {output: {sinks: []}}}", []string{"sink:stdout"}, []string{line}, nil},
		{"another sink takes its place", []string{"--output", "file://" + out}, "{}", []string{"sink:file"}, nil, []string{line}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := start(t, append([]string{"--config", write(t, t.TempDir(), "sluice.yaml", tc.config), "-r", rules, "--input", "http"}, tc.args...)...)
			if got := d.sinks(); !slices.Equal(got, tc.sinks) {
				t.Errorf("the sinks are %q, want %q", got, tc.sinks)
			}
			d.push(event("evil"), event("good"))
			d.stop()
			if got := d.stdout.lines(); !slices.Equal(got, tc.stdout) {
				t.Errorf("standard output has %q, want %q", got, tc.stdout)
			}
			if tc.file != nil && !slices.Equal(output(out).lines(), tc.file) {
				t.Errorf("the file has %q, want %q", output(out).lines(), tc.file)
			}
		})
	}
}

// A message whose results are all folded ends where they are: no sink sees it, and the
// server gets its acknowledgement.
func TestAMessageWhoseResultsAreAllFoldedIsAcknowledged(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"delivered", "snapshot"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			b, dir := newBus(t, jetstream.ConsumerConfig{}), t.TempDir()
			rules := write(t, dir, "r.yml", rule("A", "evil")+"---\n"+rule("B", "evil"))
			alerts := write(t, dir, "alerts.yml", "dedup: {fingerprint: [rule, match.C]}")
			d := start(t, "-r", rules, "--input", b.target+"?format=json", "--alert-pipeline", alerts,
				"--state-db", filepath.Join(dir, "state"), "--state-save-interval", "1", "--nats-ack-mode", mode,
				"--output", "stdout", "--output", "file://"+filepath.Join(dir, "out"), "--output", "file://"+filepath.Join(dir, "findings")+"?format=ocsf")
			b.publish(event("evil"))
			d.await("the results of the first message", func() bool { return len(d.stdout.lines()) == 2 })
			b.publish(event("evil"), event("evil"), event("evil"))
			d.await("acknowledgements", func() bool { return b.open() == 0 && b.consumer().AckFloor.Stream == 4 })
			if n := d.metric(`svc_dedup_results_total{action="folded"}`); n != 6 {
				t.Errorf("%g results were folded, want both of three messages", n)
			}
			d.stop()
			for name, lines := range map[string][]string{"standard output": d.stdout.lines(), "the file": output(filepath.Join(dir, "out")).lines(), "findings": output(filepath.Join(dir, "findings")).lines()} {
				if len(lines) != 2 {
					t.Errorf("%s has %q, want the results of the first message", name, lines)
				}
			}
		})
	}
}

func TestAClosedStandardOutputIsAFailedDelivery(t *testing.T) {
	dir := t.TempDir()
	rules := write(t, dir, "r.yml", rule("A", "evil"))
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	dead, found := filepath.Join(dir, "dead"), filepath.Join(dir, "found")
	cmd := command(t, "engine", "daemon", "-r", rules, "--api-addr", "127.0.0.1:0", "--output", "stdout", "--output", "file://"+found, "--dlq", "file://"+dead, "--sink-backoff-base-ms", "1")
	cmd.Stdout, cmd.Stdin = writer, strings.NewReader(event("evil 1")+"\n"+event("evil 2")+"\n")
	if err := cmd.Run(); err != nil {
		t.Errorf("the daemon ended with %v, want exit code 0", err)
	}
	if got := output(found).lines(); len(got) != 2 {
		t.Errorf("the other sink has %q, want both results", got)
	}
	letters := output(dead).lines()
	if len(letters) != 2 {
		t.Fatalf("dead letters %q, want both results", letters)
	}
	for _, l := range letters {
		if !strings.Contains(l, "broken pipe") || !strings.Contains(l, `"sink":"stdout","attempts":4`) {
			t.Errorf("dead letter %s, want 4 attempts at a broken pipe", l)
		}
	}
}
