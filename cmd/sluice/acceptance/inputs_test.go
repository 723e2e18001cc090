package acceptance

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Each input of a daemon has its own format, and requests go on when standard input ends.
func TestSeveralInputsAtOnce(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http?format=json", "--input", "stdin?format=logfmt", "--input-format", "cef")
	fmt.Fprintln(d.stdin, `C=evil`)
	fmt.Fprintln(d.stdin, `{"C":"evil"}`) // no logfmt with the field C
	d.await("the line of standard input", func() bool { return d.metric("svc_events_processed_total") == 2 })
	if a := d.do("POST", "/api/v1/events", event("evil")+"\nC=evil\n"); a.status != 200 {
		t.Fatalf("status %d: %s", a.status, a.body)
	}
	d.await("two results", func() bool { return len(d.stdout.lines()) == 2 })
	d.await("the line that is no JSON", func() bool { return d.metric("svc_events_parse_errors_total") == 1 })
	warned := d.awaitLog("lines could not be decoded and are lost")
	if warned["source"] != "http?format=json" || warned["format"] != "json" {
		t.Errorf("got %v, want the source and its format", warned)
	}
	d.stdin.Close()
	d.awaitLog("source ended")
	if a := d.do("POST", "/api/v1/events", event("evil")); a.status != 200 {
		t.Fatalf("behind the end of standard input: status %d: %s", a.status, a.body)
	}
	d.await("a third result", func() bool { return len(d.stdout.lines()) == 3 })
	d.stop()
}

func TestInputsThatCannotBe(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	config := write(t, dir, "sluice.yaml", "daemon:\n  rules: [rules]\n  input:\n    source: [http, stdim]\n")
	for _, tc := range []struct {
		name string
		args []string
		want []string
	}{
		{"two of them are wrong", []string{"--input", "htp", "--input", "stdin?frmat=json"}, []string{`"htp" is no input`, "did you mean 'http'?", "unknown parameter 'frmat'", "did you mean 'format'?"}},
		{"one is named twice", []string{"--input", "http", "--input", "http?format=json"}, []string{"input 'http?format=json' is named twice"}},
		{"one in the list of a file", []string{"--config", config}, []string{`"stdim" is no input`, "did you mean 'stdin'?"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"engine", "daemon", "--api-addr", "127.0.0.1:0"}, tc.args...)
			if !slices.Contains(args, "--config") {
				args = append(args, "-r", filepath.Join(dir, "rules"))
			}
			o := sluice(t, "", args...)
			for _, want := range tc.want {
				if o.code != 3 || !strings.Contains(o.stderr, want) {
					t.Errorf("exit code %d, want 3 and %q:\n%s", o.code, want, o.stderr)
				}
			}
		})
	}
}
