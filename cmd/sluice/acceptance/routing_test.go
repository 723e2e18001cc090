package acceptance

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// productRule is a rule of a product that every event with C meets.
func productRule(product string) string {
	return fmt.Sprintf("title: %[1]s\nlogsource: {product: %[1]s}\ndetection: {sel: {C|exists: true}, condition: sel}\n", product)
}

const securityRecord = `{"C":1,"Channel":"Security","EventID":4624}`

func TestTheDaemonSaysOnceThatMostResultsAreOfOtherProducts(t *testing.T) {
	const message = `"message":"most results come from rules of products that the events are not from"`
	for _, tc := range []struct {
		name  string
		event string
		args  []string
		want  []string // in the one warning, none for none
	}{
		{"Windows records", securityRecord, nil, []string{`"events":"windows"`, `"results":"cisco `, `logsource_routing.enabled`}},
		{"events that state no product", `{"C":1}`, nil, []string{`"events":"no product stated"`, `logsource_routing.event_logsource`}},
		{"routing leaves such rules out", securityRecord, []string{"--logsource-routing"}, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			for _, product := range []string{"windows", "zeek", "cisco"} {
				write(t, dir, product+".yml", productRule(product))
			}
			d := start(t, append([]string{"-r", dir, "--input", "http"}, tc.args...)...)
			for range 3 {
				d.push(slices.Repeat([]string{tc.event}, 100)...)
			}
			d.stop()
			log := d.stderr.String()
			want := min(1, len(tc.want))
			if n := strings.Count(log, message); n != want {
				t.Fatalf("%d warnings, want %d:\n%s", n, want, log)
			}
			for _, part := range tc.want {
				if !strings.Contains(log, part) {
					t.Errorf("the log lacks %q:\n%s", part, log)
				}
			}
		})
	}
}

// Events in another shape than the one the rules look at are told once, by the daemon and
// at the end of an evaluation, with the pipeline that is missing or in the way.
func TestEventsThatNoRuleLooksIntoAreTold(t *testing.T) {
	const message = `"message":"the rules do not look at the fields that the events have"`
	dir := t.TempDir()
	write(t, dir, "a.yml", "title: a\nlogsource: {product: windows, category: process_creation}\ndetection: {sel: {Image: x}, condition: sel}\n")
	for _, tc := range []struct {
		name, event string
		args        []string
		daemon      string // in the one warning; empty for none
		eval        string // the last line
	}{
		{
			"rendered records", `{"Event":{"System":{"EventID":1},"EventData":{"Image":"x"}}}`, nil, `"hint":"add windows_evtx to pipelines"`,
			"hint: the events are Windows records as JSON (Event.System, Event.EventData), and the rules do not look into those objects: add -p windows_evtx\n",
		},
		{
			"records of Winlogbeat", `{"winlog":{"event_id":1,"event_data":{"Image":"x"}}}`, nil, `"hint":"add ecs_windows to pipelines"`,
			"hint: the events are Windows records of Winlogbeat or Elastic Agent (winlog.event_data), and the rules do not look at the fields of those: add -p ecs_windows\n",
		},
		{
			"flat records and a pipeline that renames", `{"EventID":1,"Channel":"Security","Image":"x"}`,
			[]string{"-p", "windows_evtx"},
			`"hint":"leave out of pipelines the one that renames the fields of rules"`,
			"hint: the events are Windows records with flat fields (EventID, Channel), and the rules look for others: leave out the pipeline that renames them (-p)\n",
		},
		{
			"flat records and the pipeline of Elastic", `{"EventID":1,"Channel":"Security","Image":"x"}`,
			[]string{"-p", "ecs_windows"},
			`"hint":"leave out of pipelines the one that renames the fields of rules"`,
			"hint: the events are Windows records with flat fields (EventID, Channel), and the rules look for others: leave out the pipeline that renames them (-p)\n",
		},
		{
			"flat records and the pipeline of Fibratus", `{"EventID":1,"Channel":"Security","Image":"x"}`,
			[]string{"-p", "fibratus_windows"},
			`"hint":"leave out of pipelines the one that renames the fields of rules"`,
			"hint: the events are Windows records with flat fields (EventID, Channel), and the rules look for others: leave out the pipeline that renames them (-p)\n",
		},
		{
			"records of Winlogbeat and the pipeline of Fibratus", `{"winlog":{"event_id":1,"event_data":{"Image":"x"}}}`,
			[]string{"-p", "fibratus_windows"},
			`"hint":"add ecs_windows to pipelines in place of the one that renames the fields of rules"`,
			"hint: the events are Windows records of Winlogbeat or Elastic Agent (winlog.event_data), and the rules do not look at the fields of those: add -p ecs_windows in place of the pipeline that renames them\n",
		},
		{"rendered records and their pipeline", `{"Event":{"System":{"EventID":1},"EventData":{"Image":"y"}}}`, []string{"-p", "windows_evtx"}, "", "Processed 300 events, 0 matches.\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := start(t, append([]string{"-r", dir, "--input", "http"}, tc.args...)...)
			for range 3 {
				d.push(slices.Repeat([]string{tc.event}, 100)...)
			}
			d.stop()
			log := d.stderr.String()
			if n := strings.Count(log, message); n != min(1, len(tc.daemon)) || !strings.Contains(log, tc.daemon) {
				t.Errorf("%d warnings, want one with %q:\n%s", n, tc.daemon, log)
			}
			got := sluice(t, strings.Repeat(tc.event+"\n", 300), append([]string{"engine", "eval", "-r", dir}, tc.args...)...)
			if !strings.HasSuffix(got.stderr, tc.eval) {
				t.Errorf("an evaluation ends with\n%s\nwant\n%s", got.stderr, tc.eval)
			}
		})
	}
}

// What few events show is told at the end of the drain.
func TestFewEventsThatNoRuleMeetsAreToldAtTheEnd(t *testing.T) {
	for _, tc := range []struct {
		name, product, event string
		args                 []string
		told                 string
	}{
		{"fields that no rule looks at", "windows", `{"Event":{"System":{"EventID":1},"EventData":{"Image":"x"}}}`, nil, `"hint":"add windows_evtx to pipelines"`},
		{
			"rules that are all skipped", "window", securityRecord,
			[]string{"--logsource-routing"},
			`"message":"every rule is skipped for every event: no log source of a rule fits theirs","rules":"window","events":"windows"`,
		},
		{
			"a log source without routing", "windows", `{"a":1}`,
			[]string{"--event-logsource", "product=windows"},
			`"message":"has no effect without logsource_routing.enabled (--logsource-routing)","key":"daemon.logsource_routing.event_logsource"`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "a.yml", "title: a\nlogsource: {product: "+tc.product+"}\ndetection: {sel: {Image: x}, condition: sel}\n")
			d := start(t, append([]string{"-r", dir, "--input", "http"}, tc.args...)...)
			d.push(tc.event, tc.event)
			d.stop()
			if n := strings.Count(d.stderr.String(), tc.told); n != 1 {
				t.Errorf("told %d times, want once %s:\n%s", n, tc.told, d.stderr.String())
			}
		})
	}
}

func TestDerivedLogSourcesAreCounted(t *testing.T) {
	dir := t.TempDir()
	for _, product := range []string{"windows", "zeek", "cisco"} {
		write(t, dir, product+".yml", productRule(product))
	}
	for _, tc := range []struct {
		name             string
		args             []string
		pruned, unstated float64
	}{
		{"derived by default", nil, 2, 1},
		{"derived, as said", []string{"--logsource-derive", "windows"}, 2, 1},
		{"not derived", []string{"--logsource-derive", "off"}, 0, 2},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := start(t, append([]string{"-r", dir, "--input", "http", "--logsource-routing"}, tc.args...)...)
			d.push(securityRecord, `{"C":1}`)
			if got := d.metric("svc_rules_pruned_by_logsource_total"); got != tc.pruned {
				t.Errorf("%v rules pruned, want %v", got, tc.pruned)
			}
			if got := d.metric("svc_events_without_logsource_total"); got != tc.unstated {
				t.Errorf("%v events without a log source, want %v", got, tc.unstated)
			}
			d.stop()
		})
	}
	if got := sluice(t, "", "engine", "daemon", "-r", dir, "--logsource-derive", "linux"); got.code != 3 || !strings.Contains(got.stderr, "--logsource-derive") {
		t.Errorf("exit code %d, want 3 and the flag's name:\n%s", got.code, got.stderr)
	}
}

func TestTheDaemonWarnsOfPlaceholdersWithoutAValue(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", "title: A\ndetection: {sel: {C|expand: '%admins%'}, condition: sel}\n")
	d := start(t, "-r", dir, "--input", "http")
	if got := d.stderr.String(); strings.Count(got, "no pipeline gives a value to %admins%") != 1 {
		t.Errorf("the log has no such warning:\n%s", got)
	}
	d.stop()
}
