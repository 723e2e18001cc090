package acceptance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// letters reads the records of a dead-letter file.
func letters(t *testing.T, path string) (out []map[string]any) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(raw)) {
		var m map[string]any
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Fatalf("dead letter %q: %v", line, err)
		}
		out = append(out, m)
	}
	return out
}

func TestReloadsUnderLoadLoseNoEventAndJudgeNoneByTwoSets(t *testing.T) {
	dir := t.TempDir()
	both := func(set string) string { return rule(set+"1", "evil") + "---\n" + rule(set+"2", "evil") }
	write(t, dir, "rules/a.yml", both("A"))
	out := filepath.Join(dir, "out.ndjson")
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+out, "--drain-timeout", "60")

	var sent atomic.Int64
	var stop atomic.Bool
	var clients sync.WaitGroup
	padding := strings.Repeat("x", 2000)
	for range 2 {
		clients.Go(func() {
			const lines = 500
			for !stop.Load() {
				var body strings.Builder
				for n := sent.Add(lines) - lines; body.Len() == 0 || n%lines != 0; n++ {
					fmt.Fprintf(&body, `{"C":"evil %d","padding":"%s"}`+"\n", n, padding)
				}
				if a := d.do("POST", "/api/v1/events", body.String()); a.status != 200 || !strings.Contains(a.body, `"accepted":500}`) {
					t.Errorf("push: %d %s, want all accepted", a.status, a.body)
					return
				}
			}
		})
	}
	for _, set := range []string{"B", "A", "B"} {
		passes, events := d.metric("svc_reloads_total"), d.metric("svc_events_processed_total")
		next := write(t, dir, "next", both(set))
		if err := os.Rename(next, filepath.Join(dir, "rules", "a.yml")); err != nil {
			t.Fatal(err)
		}
		d.await("pass", func() bool { return d.metric("svc_reloads_total") > passes })
		d.await("events", func() bool { return d.metric("svc_events_processed_total") > events+1000 })
	}
	stop.Store(true)
	clients.Wait()
	d.stop()
	checkJudged(t, out, int(sent.Load()))
}

// checkJudged wants two results in a row for each event, both of set A or both
// of set B, and events of either set.
func checkJudged(t *testing.T, path string, events int) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type result struct {
		Title  string `json:"rule_title"`
		Fields []struct{ Value string }
	}
	seen := make([]int, events)
	sets := map[string]int{}
	var first *result
	for scan := bufio.NewScanner(f); scan.Scan(); {
		var r result
		line := strings.Replace(scan.Text(), "matched_fields", "Fields", 1)
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatalf("result %s: %v", line, err)
		}
		if first == nil {
			first = &r
			continue
		}
		if first.Fields[0] != r.Fields[0] || first.Title[:1] != r.Title[:1] || first.Title[1:]+r.Title[1:] != "12" {
			t.Fatalf("results %+v and %+v in a row, want both rules of one set for one event", *first, r)
		}
		var n int
		if _, err := fmt.Sscanf(r.Fields[0].Value, "evil %d", &n); err != nil || n >= events {
			t.Fatalf("result for %q, which nobody sent", r.Fields[0].Value)
		}
		seen[n]++
		sets[r.Title[:1]]++
		first = nil
	}
	for n, times := range seen {
		if times != 1 {
			t.Fatalf("event %d of %d was evaluated %d times, want once", n, events, times)
		}
	}
	if sets["A"] == 0 || sets["B"] == 0 || first != nil {
		t.Errorf("events by set %v (half an event: %t), want some of both and no half", sets, first != nil)
	}
}

func TestAFullDiskEndsInTheDeadLetterQueueAndHarmsNobodyElse(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skipf("no device that is always full: %v", err)
	}
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	out, dead := filepath.Join(dir, "out.ndjson"), filepath.Join(dir, "dead.ndjson")
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+full, "--output", "file://"+out,
		"--dlq", "file://"+dead, "--sink-retry-max", "1", "--sink-backoff-base-ms", "1")
	const events = 500
	var lines, want []string
	for i := range events {
		lines = append(lines, event(fmt.Sprintf("evil %d", i)))
		want = append(want, resultLine("A", fmt.Sprintf("evil %d", i)))
	}
	d.push(lines...)
	d.stop()
	raw, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Split(strings.TrimSpace(string(raw)), "\n"); !slices.Equal(got, want) {
		t.Errorf("the other file has %d results, want all %d in order", len(got), events)
	}
	got := letters(t, dead)
	if len(got) != events {
		t.Fatalf("%d dead letters, want %d", len(got), events)
	}
	if last := d.logged("stopped"); last["dead_lettered"] != float64(events) || last["dropped"] != 0.0 || last["undelivered"] != 0.0 {
		t.Errorf("the log says %v, want %d dead letters and nothing else", last, events)
	}
	for i, l := range got {
		if l["original_event"] != "["+want[i]+"]" || l["stage"] != "delivery" || l["attempts"] != 2.0 || !strings.Contains(fmt.Sprint(l["error"]), "no space left") {
			t.Fatalf("dead letter %d is %v, want the result, two attempts and the cause", i, l)
		}
	}
}

func TestGarbageOnStandardInput(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	garbage := func() string {
		b := []byte{0xff} // no JSON begins like this
		for range rng.IntN(300) {
			b = append(b, byte(rng.Uint32()))
		}
		return strings.NewReplacer("\n", "n", "\r", "r").Replace(string(b))
	}
	var mixed, clean strings.Builder
	const events, every = 50, 20
	for i := range events {
		for range every {
			mixed.WriteString(garbage() + "\n")
		}
		fmt.Fprintln(&mixed, event(fmt.Sprintf("evil %d", i)))
		fmt.Fprintln(&clean, resultLine("A", fmt.Sprintf("evil %d", i)))
	}
	long := strings.Repeat("evil ", 2<<20/5)
	for _, tc := range []struct {
		name, format, input, want string
		letters                   int
		letter                    map[string]any
	}{
		{"no line of it is JSON", "json", mixed.String(), clean.String(), events * every, map[string]any{"stage": "parse", "error": "parse error"}},
		{"each line of it is text", "auto", mixed.String(), clean.String(), 0, nil},
		{"it has no end of line", "json", "\xff\x00\xfe", "", 1, map[string]any{"stage": "parse", "error": "parse error"}},
		{
			"a line of two mebibytes is left out", "auto", event("evil 1") + "\n" + event(long) + "\n" + event("evil 2") + "\n",
			resultLine("A", "evil 1") + "\n" + resultLine("A", "evil 2") + "\n", 1,
			map[string]any{"stage": "ingest", "error": "event exceeds maximum size (1048576 bytes)", "original_event": event(long)[:8192]},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "rules/a.yml", rule("A", "evil"))
			dead := filepath.Join(dir, "dead.ndjson")
			got := sluice(t, tc.input, "engine", "daemon", "-r", filepath.Join(dir, "rules"), "--api-addr", "127.0.0.1:0", "--drain-timeout", "60", "--input-format", tc.format, "--dlq", "file://"+dead)
			if got.code != 0 || got.stdout != tc.want {
				t.Errorf("code %d, %d bytes of results, want 0 and %d bytes\n%s", got.code, len(got.stdout), len(tc.want), got.stderr)
			}
			all := letters(t, dead)
			if len(all) != tc.letters {
				t.Fatalf("%d dead letters, want %d", len(all), tc.letters)
			}
			for _, l := range all {
				for k, v := range tc.letter {
					if l[k] != v {
						t.Fatalf("%s of a dead letter is %.100v, want %.100v", k, l[k], v)
					}
				}
			}
		})
	}
}
