package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// examplesOf returns the examples in the help of a command and of those below it.
func examplesOf(t *testing.T, path ...string) (lines []string) {
	t.Helper()
	got := sluice(t, "", append(path, "--help")...)
	if got.code != 0 {
		t.Fatalf("%q: exit code %d", path, got.code)
	}
	part := ""
	for _, line := range wholeLines(got.stdout) {
		switch {
		case !strings.HasPrefix(line, "  "):
			part = line
		case part == "Examples:":
			lines = append(lines, strings.TrimSpace(line))
		case part == "Commands:":
			lines = append(lines, examplesOf(t, append(path[:len(path):len(path)], strings.Fields(line)[0])...)...)
		}
	}
	if part == "" || len(lines) == 0 {
		t.Errorf("the help of %q has no example", path)
	}
	return lines
}

// Every example of help does what it says, in a directory with what it names.
func TestExamplesOfHelpRun(t *testing.T) {
	plainly(t)
	seen := make(map[string]bool)
	d := withAnIncident(t)
	for _, line := range examplesOf(t) {
		if seen[line] {
			continue
		}
		seen[line] = true
		t.Run(line, func(t *testing.T) {
			r := newReader(t)
			write(t, r.dir, "rules/whoami.yml", rule("Whoami", "evil"))
			write(t, r.dir, "lists.yml", listsPipeline)
			write(t, r.dir, "sources/blocked.yml", blockedSource)
			write(t, r.dir, "blocked.txt", "203.0.113.9\n")
			write(t, r.dir, "pipelines/feeds.yml", "name: feeds\nsources:\n  - {id: feed, type: file, path: feed.json}\nvars: {bad: '${source.feed}'}\n")
			write(t, r.dir, "events.ndjson", event("evil")+"\n")
			write(t, r.dir, "dead.ndjson", `{"original_event":"x","error":"parse error","timestamp":"2026-03-01T10:00:00Z","stage":"parse"}`+"\n")
			write(t, r.dir, "result.ndjson", strings.ReplaceAll(resultLine("A", "evil"), `"C"`, `"CommandLine"`)+"\n")
			write(t, r.dir, "webhooks.yml", "webhooks: [{id: chat, kind: detection, url: 'https://chat.example/'}]\n")
			write(t, r.dir, "sluice.yaml", "daemon: {rules: rules, api: {addr: '127.0.0.1:0'}}\n")
			t.Setenv("PATH", filepath.Join(r.dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
			if strings.HasPrefix(line, "sluice engine daemon") {
				line = strings.ReplaceAll(line, documented, "127.0.0.1:0")
			}
			if args, ok := strings.CutPrefix(line, "sluice engine daemon "); ok && strings.Contains(args, "--input http") {
				startIn(t, r.dir, strings.Fields(args)...).stop()
				return
			}
			r.daemon = d
			d.await("no fetch under way", func() bool { return strings.Contains(d.get("/api/v1/actors/sources").body, `"in_flight":0`) })
			r.follow(fence{page: "help", text: line + "\n"})
		})
	}
	d.stop()
	for _, command := range []string{"engine daemon", "engine eval", "rule fields", "config reload", "dlq replay", "version", "silence extend", "sources resolve", "pipeline resolve", "incidents export", "engine incidents export"} {
		found := false
		for line := range seen {
			found = found || strings.HasPrefix(line, "sluice "+command)
		}
		if !found {
			t.Errorf("no example of %s was run", command)
		}
	}
}

// A reader that has seen enough ends a command without a word, as in sluice ... | head.
func TestACommandEndsQuietlyWhenNobodyReads(t *testing.T) {
	dir := t.TempDir()
	events := write(t, dir, "events.ndjson", strings.Repeat(event("evil")+"\n", 20_000))
	rules := write(t, dir, "a.yml", rule("A", "evil"))
	for _, args := range [][]string{
		{"engine", "eval", "-r", rules, "-e", "@" + events},
		{"engine", "eval", "-r", rules, "-e", "@" + events, "--output-format", "table", "--fail-on-detection"},
		{"config", "schema"},
	} {
		out, in, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var errs strings.Builder
		cmd := command(t, args...)
		cmd.Stdout, cmd.Stderr = in, &errs
		_ = out.Close()
		_ = cmd.Run()
		_ = in.Close()
		if code := cmd.ProcessState.ExitCode(); code != 141 || strings.Contains(errs.String(), "pipe") || strings.Contains(errs.String(), "Processed") {
			t.Errorf("%q ends with %d and\n%s\nwant 141 and nothing of a pipe", args, code, errs.String())
		}
	}
}
