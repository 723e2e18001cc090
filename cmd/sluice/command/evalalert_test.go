package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/alert"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/correlation"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sources"
)

// sshRules find logins, with the address and the user in the matched fields.
const sshRules = `title: Failed login
id: rule-ssh
level: high
detection: {s: {kind: fail, ip|exists: true}, condition: s}
---
title: Login
id: rule-b
level: critical
detection: {s: {kind: login, ip|exists: true}, condition: s}
`

// at is an event of a second.
func at(second int, kind, ip string) string {
	return fmt.Sprintf(`{"@timestamp":%d,"kind":%q,"ip":%q}`+"\n", second, kind, ip)
}

// told says in a few words what the lines of an output are about.
func told(t *testing.T, out string) (all []string) {
	t.Helper()
	for line := range strings.Lines(out) {
		var in struct {
			Rule     string `json:"rule_id"`
			Incident string `json:"incident_id"`
			Trigger  string `json:"trigger"`
			Results  int    `json:"result_count"`
			First    int64  `json:"first_seen"`
			Last     int64  `json:"last_seen"`
			Facts    struct {
				Incident string `json:"incident_id"`
				State    string `json:"dedup_state"`
				Count    int    `json:"dedup_fire_count"`
				First    int64  `json:"dedup_first_seen"`
				Last     int64  `json:"dedup_last_seen"`
			} `json:"enrichments"`
		}
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		switch {
		case in.Incident != "":
			all = append(all, fmt.Sprintf("%s %d of %d to %d", in.Trigger, in.Results, in.First, in.Last))
		case in.Facts.State != "":
			all = append(all, fmt.Sprintf("%s %s %d of %d to %d", in.Facts.State, in.Rule, in.Facts.Count, in.Facts.First, in.Facts.Last))
		default:
			all = append(all, strings.TrimSpace(in.Rule+" "+in.Facts.Incident))
		}
	}
	return all
}

func TestEvalRunsAnAlertPipeline(t *testing.T) {
	const (
		dedup = "dedup: {fingerprint: [match.ip], repeat_interval: 60s, resolve_timeout: 120s}"
		group = "group: {by: [match.ip], group_wait: 30s, group_interval: 5m, resolve_timeout: 1h}"
		year  = 365 * 24 * 3600
		base  = 1_700_000_000
	)
	for _, tc := range []struct {
		name, file, events string
		args               []string
		code               int
		want               []string
		err                []string
	}{
		{
			"alerts fold, repeat and end", dedup,
			at(1000, "fail", "1") + at(1005, "fail", "1") + at(1020, "fail", "2") + at(1070, "fail", "1") + at(1100, "fail", "1") + at(1500, "none", ""), nil, 0,
			[]string{
				"rule-ssh", "rule-ssh", "repeat rule-ssh 2 of 1000 to 1005", "repeat rule-ssh 4 of 1000 to 1100",
				"resolved rule-ssh 1 of 1020 to 1020", "resolved rule-ssh 4 of 1000 to 1100",
			},
			[]string{"Processed 6 events, 2 matches.\nAlert pipeline: 0 silenced, 0 inhibited, 3 folded; 4 records of alerts, 0 records of incidents.\n"},
		},
		{
			"incidents wait, tell news and end", group,
			at(1000, "fail", "10.0.0.1") + at(1012, "login", "10.0.0.1") + at(1100, "fail", "10.0.0.1") + at(1200, "fail", "10.0.0.1") + at(1700, "fail", "10.0.0.1") + at(9000, "none", ""), nil, 0,
			[]string{
				"rule-ssh GROUP", "rule-b GROUP", "group_wait 2 of 1000 to 1012", "rule-ssh GROUP", "rule-ssh GROUP", "group_interval 4 of 1000 to 1200",
				"rule-ssh GROUP", "group_interval 5 of 1000 to 1700", "resolved 5 of 1000 to 1700",
			},
			nil,
		},
		{
			"the end tells of incidents that wait, and ends none", group,
			at(1000, "fail", "1") + at(1010, "fail", "2"), nil, 0,
			[]string{"rule-ssh GROUP", "rule-ssh GROUP", "group_wait 1 of 1000 to 1000", "group_wait 1 of 1010 to 1010"},
			nil,
		},
		{
			"the time of events without results counts", group,
			at(1000, "fail", "1") + at(1031, "none", ""), nil, 0,
			[]string{"rule-ssh GROUP", "group_wait 1 of 1000 to 1000"},
			nil,
		},
		{
			"a tick follows the results of its second", group,
			at(1000, "fail", "1") + at(1030, "fail", "1") + at(1031, "none", ""), nil, 0,
			[]string{"rule-ssh GROUP", "rule-ssh GROUP", "group_wait 2 of 1000 to 1030"},
			nil,
		},
		{
			"a gap of a year", dedup + "\n" + group,
			at(base, "fail", "1") + at(base+year, "fail", "1"), nil, 0,
			[]string{
				"rule-ssh GROUP", fmt.Sprintf("group_wait 1 of %d to %d", base, base), fmt.Sprintf("resolved rule-ssh 1 of %d to %d", base, base),
				fmt.Sprintf("resolved 1 of %d to %d", base, base), "rule-ssh GROUP", fmt.Sprintf("group_wait 1 of %d to %d", base+year, base+year),
			},
			nil,
		},
		{
			"late events do not move the clock back", dedup,
			at(1000, "fail", "1") + at(400, "fail", "1") + at(1001, "none", ""), nil, 0,
			[]string{"rule-ssh"},
			[]string{"1 folded"},
		},
		{
			"events without a time are of the newest time so far", dedup,
			at(1000, "fail", "1") + `{"kind":"fail","ip":"1"}` + "\n" + at(1060, "none", "") + at(1061, "none", ""), nil, 0,
			[]string{"rule-ssh", "repeat rule-ssh 2 of 1000 to 1000"},
			nil,
		},
		{
			"events before the first time are of 1970", dedup,
			`{"kind":"fail","ip":"1"}` + "\n" + at(1000, "fail", "1") + at(1060, "none", "") + at(1061, "none", ""), nil, 0,
			[]string{"rule-ssh", "repeat rule-ssh 2 of 0 to 1000"},
			[]string{"1 result came before the first event with a time: for the alert pipeline that was 1970 (--timestamp-field names the field of the time)\n"},
		},
		{
			"a time that nothing happens at is none", dedup,
			at(1000, "fail", "1") + `{"@timestamp":"9999-12-31T23:59:59Z","kind":"fail","ip":"1"}` + "\n" + at(1060, "none", "") + at(1061, "none", ""), nil, 0,
			[]string{"rule-ssh", "repeat rule-ssh 2 of 1000 to 1000"},
			nil,
		},
		{
			"no event has a time", dedup + "\n" + group,
			`{"kind":"fail","ip":"1"}` + "\n" + `{"kind":"fail","ip":"1"}` + "\n", nil, 0,
			[]string{"rule-ssh GROUP", "group_wait 2 of 0 to 0"},
			[]string{"2 results came before the first event with a time: for the alert pipeline that was 1970 (--timestamp-field names the field of the time)\n"},
		},
		{
			"a field for the time", dedup,
			`{"when":1000,"kind":"fail","ip":"1"}` + "\n" + `{"when":1010,"kind":"fail","ip":"1"}` + "\n" + `{"when":1100}` + "\n",
			[]string{"--timestamp-field", "when"},
			0,
			[]string{"rule-ssh", "repeat rule-ssh 2 of 1000 to 1010"},
			nil,
		},
		{
			"several events of a line", dedup,
			"[" + strings.ReplaceAll(strings.TrimSpace(at(1000, "fail", "1")+at(1010, "fail", "1")+at(1100, "none", "")), "\n", ",") + "]\n", nil, 0,
			[]string{"rule-ssh", "repeat rule-ssh 2 of 1000 to 1010"},
			nil,
		},
		{
			"what is silenced is not found", "silences: [{matchers: [{selector: rule, value: rule-ssh}], ends_at: '1970-01-01T00:30:00Z'}]",
			at(1000, "fail", "1"),
			[]string{"--fail-on-detection"},
			0, nil,
			[]string{"Processed 1 event, 0 matches.\nAlert pipeline: 1 silenced, 0 inhibited, 0 folded; 0 records of alerts, 0 records of incidents.\n"},
		},
		{
			"a silence ends by the time of events", "silences: [{matchers: [{selector: rule, value: rule-ssh}], ends_at: '1970-01-01T00:30:00Z'}]",
			at(1000, "fail", "1") + at(1800, "fail", "2"),
			[]string{"--fail-on-detection"},
			1,
			[]string{"rule-ssh"},
			[]string{"1 silenced"},
		},
		{
			"what explains the rest inhibits it", "inhibit_rules: [{source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: high}], equal: [match.ip]}]",
			at(1000, "login", "1") + at(1299, "fail", "1") + at(1300, "fail", "1") + at(1300, "fail", "2"), nil, 0,
			[]string{"rule-b", "rule-ssh", "rule-ssh"},
			[]string{"1 inhibited"},
		},
		{
			"an empty pipeline", "{}", at(1000, "fail", "1"), nil, 0, []string{"rule-ssh"}, nil,
		},
		{
			"no room for alerts and incidents", "dedup: {fingerprint: [match.ip], max_active_alerts: 1}\ngroup: {by: [match.ip], caps: {max_open_incidents: 1}}",
			at(1000, "fail", "1") + at(1000, "fail", "2") + at(1000, "fail", "3"), nil, 0,
			[]string{"rule-ssh GROUP", "rule-ssh", "rule-ssh", "group_wait 1 of 1000 to 1000"},
			[]string{
				"warning: 2 results went on without deduplication, because there were too many active alerts (raise dedup.max_active_alerts)\n",
				"warning: 2 results went on without an incident, because too many were open (raise group.caps.max_open_incidents)\n",
			},
		},
		{
			"durations that contradict each other", "group: {by: [match.ip], group_wait: 2h, group_interval: 500ms}", at(1000, "fail", "1"), nil, 0,
			[]string{"rule-ssh GROUP", "group_wait 1 of 1000 to 1000"},
			[]string{"warning: alerts.yml:1: --alert-pipeline: group.group_wait: ", "warning: alerts.yml:1: --alert-pipeline: group.group_interval: 500ms is less than a second, and is taken as 1s\n"},
		},
		{"a file that is missing", "", "", []string{"--alert-pipeline", "nowhere.yml"}, 3, nil, []string{"--alert-pipeline: nowhere.yml: the file cannot be read: no such file or directory"}},
		{"a directory", "", "", []string{"--alert-pipeline", "r"}, 3, nil, []string{"--alert-pipeline: r: the file cannot be read: it is no regular file"}},
		{"an empty file", "\n", "", nil, 3, nil, []string{"--alert-pipeline: alerts.yml: the file is empty ({} is a pipeline that only holds silences)"}},
		{
			"every fault of a file", "max_silences: -1\ngroup:\n  by: [rule]\n  group_waits: 1s\nsilences:\n  - matchers: [{selector: rule, op: =~, value: (}]\ndedup:\n  fingerprint: [fields.x]\n", "", nil, 3, nil,
			[]string{
				"alerts.yml:4: --alert-pipeline: unknown field 'group.group_waits' (valid here: mode, by, entities, group_wait, ", "nats_subject) (did you mean 'group_wait'?)\n",
				"alerts.yml:1: --alert-pipeline: max_silences: -1 is below 0", "alerts.yml:6: --alert-pipeline: silences[0]: matchers[0]: matcher of 'rule': expression '(' cannot be used", "alerts.yml:8: --alert-pipeline: dedup.fingerprint: unknown selector 'fields.x'",
			},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "r/a.yml", sshRules)
			args := append([]string{"engine", "eval", "-r", "r"}, tc.args...)
			if tc.file != "" {
				write(t, "alerts.yml", tc.file)
				args = append(args, "--alert-pipeline", "alerts.yml")
			}
			got := sluice(t, tc.events, args...)
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err...)
			if tc.code == 3 {
				return
			}
			all := told(t, got.out)
			for i := range all {
				if words := strings.Fields(all[i]); len(words) == 2 && len(words[1]) == 16 {
					all[i] = words[0] + " GROUP"
				}
			}
			if fmt.Sprintf("%q", all) != fmt.Sprintf("%q", tc.want) {
				t.Errorf("output\n%s\nwant\n%s", strings.Join(all, "\n"), strings.Join(tc.want, "\n"))
			}
		})
	}
}

const wholePipeline = `
inhibit_rules: [{name: crit, source_match: [{selector: level, value: critical}], target_match: [{selector: level, value: high}], equal: [match.ip], duration: 20s}]
dedup: {fingerprint: [match.ip], repeat_interval: 60s, resolve_timeout: 10m}
group: {mode: entity_graph, entities: [match.ip, match.user], group_wait: 30s, group_interval: 1m, resolve_timeout: 5m, include: results}
`

// Records stand between the results in every form.
func TestFormsOfRecords(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", sshRules)
	write(t, "alerts.yml", wholePipeline)
	events := at(1000, "fail", "10.0.0.1") + at(1005, "fail", "10.0.0.1") + at(1100, "login", "10.0.0.2") + at(5000, "none", "")
	for golden, args := range map[string][]string{
		"eval-alerts-ndjson": nil,
		"eval-alerts-pretty": {"--pretty"},
		"eval-alerts-table":  {"--output-format", "table"},
		"eval-alerts-csv":    {"--output-format", "csv"},
	} {
		got := sluice(t, events, append([]string{"engine", "eval", "-r", "r", "--alert-pipeline", "alerts.yml"}, args...)...)
		got.wantCode(t, 0)
		wantGolden(t, golden, got.out)
	}
	var out bytes.Buffer
	p := newPrinter(watched(&out, columns(120)), false)
	evaluateWith(t, p, sshRules, wholePipeline, events)
	wantGolden(t, "eval-alerts-rows", out.String())
}

// evaluateWith evaluates events with an alert pipeline.
func evaluateWith(t *testing.T, p *printer, rules, file, events string) *evaluation {
	t.Helper()
	return evaluateFrom(t, p, rules, file, strings.NewReader(events))
}

func evaluateFrom(t *testing.T, p *printer, rules, file string, events io.Reader) *evaluation {
	t.Helper()
	c := load.FromBytes("r", []byte(rules), load.Options{})
	program, err := correlation.Compile(c.Correlations, c.Rules, correlation.Options{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := engine.Compile(c.Rules, engine.Options{Fields: program.Spec().Fields})
	if err != nil {
		t.Fatal(err)
	}
	f, _, faults := alert.Parse([]byte(file))
	if f == nil {
		t.Fatal(faults)
	}
	p.fit(c)
	e := newEvaluation(&graph.RuleSet{Engine: set, Correlation: program}, f, &format.Decoder{}, p, &config.Default().Eval, func(...string) {})
	if err := errors.Join(e.run(sources.NewLineReader(events)), p.finish()); err != nil {
		t.Fatal(err)
	}
	return e
}

// The same events have the same outcome, ids included, whichever worker is the fastest.
func TestAlertsAreTheSameInEveryRun(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", strings.ReplaceAll(sshRules, "ip|exists: true", "ip|exists: true, user|exists: true"))
	write(t, "alerts.yml", wholePipeline)
	var events strings.Builder
	for i := range 5000 {
		kind := "fail"
		if i%7 == 0 {
			kind = "login"
		}
		fmt.Fprintf(&events, `{"@timestamp":%d,"kind":%q,"ip":"10.0.%d.1","user":"u%d","pad":%q}`+"\n", 1000+i/3, kind, i*i%97, i*31%211, strings.Repeat("x", i%53))
	}
	var once string
	for i := range 3 {
		got := sluice(t, events.String(), "engine", "eval", "-r", "r", "--alert-pipeline", "alerts.yml", "--include-event")
		got.wantCode(t, 0)
		if i == 0 {
			once = got.out
			continue
		}
		if got.out != once {
			t.Fatal("another run has another outcome")
		}
	}
	if n := strings.Count(once, `"trigger":"group_wait"`); n < 3 {
		t.Errorf("%d incidents, want some", n)
	}
	// Samples are of the result that opened the alert, although its batch is long gone.
	for line := range strings.Lines(once) {
		var in struct {
			Facts struct {
				Fields map[string]string `json:"dedup_fields"`
			} `json:"enrichments"`
			Fields []struct{ Field, Value string } `json:"matched_fields"`
		}
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			t.Fatal(err)
		}
		for _, f := range in.Fields {
			if want, ok := in.Facts.Fields["match."+f.Field]; ok && want != f.Value {
				t.Fatalf("a record has another sample: %s", line)
			}
		}
	}
}

// A correlation and the detections of its event go through the pipeline together, the
// detections first.
func TestCorrelationsGoThroughTheAlertPipeline(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", loginRules+"---\n"+counting())
	write(t, "alerts.yml", `
inhibit_rules: [{source_match: [{selector: rule, value: c-many}], target_match: [{selector: rule, value: d-login}]}]
group: {by: [rule], group_wait: 60s}
`)
	got := sluice(t, logins(100, 110, 120, 130, 140), "engine", "eval", "-r", "r", "--alert-pipeline", "alerts.yml")
	got.wantCode(t, 0)
	got.wantErr(t, "Processed 5 events, 3 detection matches, 3 correlation matches.\nAlert pipeline: 0 silenced, 2 inhibited, 0 folded; 0 records of alerts, 1 record of incidents.\n")
	var all []string
	for _, text := range told(t, got.out) {
		word, _, _ := strings.Cut(text, " ")
		all = append(all, word)
	}
	// The third login fires, behind its own detection; from then on it explains the others, and
	// holds what there is to say of their incident.
	if text := strings.Join(all, " "); text != "d-login d-login d-login c-many c-many c-many group_wait" {
		t.Errorf("output %s", text)
	}
}

// Events that cannot be read to their end have a last tick all the same.
func TestTheLastTickComesBehindAFailure(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", sshRules)
	write(t, "alerts.yml", "group: {by: [match.ip]}")
	whole := gzipped(at(1000, "fail", "1") + strings.Repeat(`{"x":"`+strings.Repeat("y", 100)+"\"}\n", 10))
	write(t, "ev.gz", whole[:len(whole)-4])
	got := sluice(t, "", "engine", "eval", "-r", "r", "--alert-pipeline", "alerts.yml", "-e", "@ev.gz")
	got.wantCode(t, 2)
	if all := told(t, got.out); len(all) != 2 || all[1] != "group_wait 1 of 1000 to 1000" {
		t.Errorf("output %q, want the result and its incident", all)
	}
}
