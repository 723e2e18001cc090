package command

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/pipeline"
)

func TestPipelineListAndShow(t *testing.T) {
	for _, tc := range []struct {
		name   string
		args   []string
		golden string // of stdout, empty for none
		code   int
		err    []string
	}{
		{"the list as a table", []string{"list", "--output-format", "table"}, "pipeline-list", 0, nil},
		{"the list as lines of JSON", []string{"list"}, "pipeline-list-ndjson", 0, nil},
		{"the list as tab-separated values", []string{"list", "--output-format", "tsv"}, "pipeline-list-tsv", 0, nil},
		{"a pipeline without a document, as a table", []string{"show", "windows_evtx", "--output-format", "table"}, "pipeline-show-evtx", 0, nil},
		{"a pipeline without a document, as lines of JSON", []string{"show", "windows_evtx"}, "pipeline-show-evtx-ndjson", 0, nil},
		{"a document has no other form", []string{"show", "sysmon", "--output-format", "csv"}, "", 0, []string{"warning: pipeline show has no csv output, it prints YAML"}},
		{"a name that is nearly one", []string{"show", "sysmom"}, "", 3, []string{`no built-in pipeline is named "sysmom", did you mean 'sysmon'?`}},
		{"a name that is none", []string{"show", "elastic"}, "", 3, []string{`no built-in pipeline is named "elastic" (ecs_windows, fibratus_windows, sysmon, windows_evtx)`}},
		{"no name", []string{"show"}, "", 3, []string{"pipeline show needs the name of one built-in pipeline (ecs_windows,"}},
		{"two names", []string{"show", "sysmon", "ecs_windows"}, "", 3, []string{"one built-in pipeline"}},
		{"an argument to list", []string{"list", "sysmon"}, "", 3, []string{"takes no argument"}},
		{"a command that is nearly one", []string{"lst"}, "", 3, []string{`did you mean "list"?`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			got := sluice(t, "", append([]string{"pipeline"}, tc.args...)...)
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err...)
			if tc.golden != "" {
				wantGolden(t, tc.golden, got.out)
			}
		})
	}
}

// What show prints is a pipeline file: it does what the built-in one does.
func TestAPipelineThatWasShownCanBeUsedAsAFile(t *testing.T) {
	for _, d := range pipeline.Descriptions() {
		if d.Name == "windows_evtx" {
			continue // has no document
		}
		t.Run(d.Name, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "r/a.yml", goodRule)
			shown := sluice(t, "", "pipeline", "show", d.Name)
			shown.wantCode(t, 0)
			write(t, "own.yml", shown.out)
			own := sluice(t, "", "pipeline", "diff", "-r", "r", "-p", "own.yml")
			builtin := sluice(t, "", "pipeline", "diff", "-r", "r", "-p", d.Name)
			if own.code != 0 || own.out != builtin.out {
				t.Errorf("the file gives %d\n%s\nthe built-in pipeline\n%s", own.code, own.out, builtin.out)
			}
		})
	}
}

func TestDescriptionsAreThoseOfThePipelines(t *testing.T) {
	list := pipeline.Descriptions()
	if len(list) != len(pipeline.Builtins) {
		t.Fatalf("%d descriptions of %d pipelines", len(list), len(pipeline.Builtins))
	}
	for i, d := range list {
		set, err := pipeline.Load([]string{d.Name})
		if err != nil {
			t.Fatal(err)
		}
		if d.Name != pipeline.Builtins[i] || d.Priority != set.Pipelines[0].Priority {
			t.Errorf("description of %s with priority %d, want %s with %d", d.Name, d.Priority, pipeline.Builtins[i], set.Pipelines[0].Priority)
		}
	}
}

func TestEvalSaysHowManyRulesItLoaded(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		args  []string
		want  string
	}{
		{"one rule", map[string]string{"r/a.yml": goodRule}, nil, "Loaded 1 detection rule.\n"},
		{"several", map[string]string{"r/a.yml": goodRule, "r/b.yml": linuxRule}, nil, "Loaded 2 detection rules.\n"},
		{"one of them broken", map[string]string{"r/a.yml": goodRule, "r/b.yml": brokenRule}, nil, "Loaded 1 detection rule, 1 document rejected.\n"},
		{"some left out", map[string]string{"r/a.yml": goodRule, "r/b.yml": linuxRule}, []string{"--exclude-rule", "11111111-1111-1111-1111-111111111111"}, "Loaded 1 detection rule, 1 excluded.\n"},
		{"quiet", map[string]string{"r/a.yml": goodRule}, []string{"--quiet"}, ""},
		{"without statistics", map[string]string{"r/a.yml": goodRule}, []string{"--no-stats"}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			for name, text := range tc.files {
				write(t, name, text)
			}
			got := sluice(t, "{}\n", append([]string{"eval", "-r", "r"}, tc.args...)...)
			got.wantCode(t, 0)
			if tc.want == "" && strings.Contains(got.err, "Loaded") || !strings.Contains(got.err, tc.want) {
				t.Errorf("stderr %q, want %q", got.err, tc.want)
			}
		})
	}
}

func TestPlaceholdersWithoutAValueAreWarnedOf(t *testing.T) {
	const rule = "title: Admins\nlogsource: {product: windows}\ndetection: {sel: {User|expand: '%admins%'}, condition: sel}\n"
	const fills = "vars: {admins: [root]}\ntransformations: [{type: value_placeholders}]\n"
	for _, tc := range []struct {
		name  string
		args  []string
		warns bool
	}{
		{"eval", []string{"eval", "-r", "r"}, true},
		{"eval, with a value", []string{"eval", "-r", "r", "-p", "fills.yml"}, false},
		{"rule validate", []string{"rule", "validate", "r"}, true},
		{"rule validate, quietly", []string{"rule", "validate", "r", "--quiet"}, true},
		{"rule validate, with a value", []string{"rule", "validate", "r", "-p", "fills.yml"}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "r/a.yml", rule)
			write(t, "fills.yml", fills)
			got := sluice(t, "{}\n", tc.args...)
			got.wantCode(t, 0)
			if warns := strings.Contains(got.err, "no pipeline gives a value to %admins%: "); warns != tc.warns {
				t.Errorf("warns: %t, want %t:\n%s", warns, tc.warns, got.err)
			}
		})
	}
}

// lines repeats a line.
func lines(n int, line string) string { return strings.Repeat(line+"\n", n) }

func TestEvalSaysWhenMostResultsAreOfOtherProducts(t *testing.T) {
	product := func(name string) string {
		return "title: " + name + "\nlogsource: {product: " + name + "}\ndetection: {sel: {C: x}, condition: sel}\n"
	}
	all := map[string]string{"r/w.yml": product("windows"), "r/z.yml": product("zeek"), "r/c.yml": product("cisco")}
	const windows = `{"C":"x","Channel":"Security","EventID":4624}`
	for _, tc := range []struct {
		name  string
		rules map[string]string
		stdin string
		args  []string
		want  string // golden file of the hint, empty for none
	}{
		{"Windows records", all, lines(10, windows), nil, "hint-windows"},
		{"events with a product", all, lines(10, `{"C":"x","product":"Cisco"}`), nil, "hint-product"},
		{"events that state no product", all, lines(10, `{"C":"x"}`), nil, "hint-none"},
		{"a few results", all, lines(3, windows), nil, ""},
		{"quiet", all, lines(10, windows), []string{"--quiet"}, ""},
		{"routing leaves them out", all, lines(10, windows), []string{"--logsource-routing"}, ""},
		{"a product given", all, lines(10, `{"C":"x"}`), []string{"--logsource-routing", "--event-logsource", "product=windows"}, ""},
		{"rules of one product", map[string]string{"r/w.yml": product("windows")}, lines(10, `{"C":"x"}`), nil, ""},
		{"rules of the product of the events", map[string]string{"r/w.yml": product("Windows")}, lines(10, windows), nil, ""},
		{"rules of another product alone", map[string]string{"r/z.yml": product("zeek")}, lines(10, windows), nil, "hint-other"},
		{"no results", all, lines(10, `{}`), nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			for name, text := range tc.rules {
				write(t, name, text)
			}
			got := sluice(t, tc.stdin, append([]string{"eval", "-r", "r"}, tc.args...)...)
			got.wantCode(t, 0)
			_, hint, found := strings.Cut(got.err, "hint: ")
			if tc.want == "" {
				if found {
					t.Errorf("there is a hint:\n%s", hint)
				}
				return
			}
			wantGolden(t, tc.want, "hint: "+hint)
		})
	}
}

func TestDerivedLogSourcesOfEval(t *testing.T) {
	const rules = `title: Process
logsource: {product: windows, category: process_creation}
detection: {sel: {C: x}, condition: sel}
---
title: Registry
logsource: {product: windows, category: registry_set}
detection: {sel: {C: x}, condition: sel}
`
	const sysmon, security = `{"C":"x","Channel":"Microsoft-Windows-Sysmon/Operational","EventID":1}`, `{"C":"x","Channel":"Security","EventID":4688}`
	for _, tc := range []struct {
		name  string
		stdin string
		args  []string
		want  string // titles
		err   string
	}{
		{"derived by default", sysmon, nil, "Process", "Log sources: 1 rule check skipped; 0 events have no log source."},
		{"off", sysmon, []string{"--logsource-derive", "off"}, "Process Registry", "Log sources: 0 rule checks skipped; 1 event has no log source."},
		{"a pipeline that adds the service, on its event", sysmon, []string{"-p", "sysmon"}, "Process", ""},
		{"a pipeline that adds the service, on another", strings.Replace(security, "4688", `4688,"x":1`, 1), []string{"-p", "sysmon"}, "", "Log sources: 2 rule checks skipped"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "r/a.yml", rules)
			got := sluice(t, tc.stdin+"\n", append([]string{"eval", "-r", "r", "--logsource-routing"}, tc.args...)...)
			got.wantCode(t, 0)
			got.wantErr(t, tc.err)
			var titles []string
			for line := range strings.Lines(got.out) {
				var r struct {
					Title string `json:"rule_title"`
				}
				if err := json.Unmarshal([]byte(line), &r); err != nil {
					t.Fatal(err)
				}
				titles = append(titles, r.Title)
			}
			if got := strings.Join(titles, " "); got != tc.want {
				t.Errorf("rules %q fired, want %q", got, tc.want)
			}
		})
	}
	inEmptyDir(t)
	write(t, "r/a.yml", rules)
	sluice(t, "", "eval", "-r", "r", "--logsource-derive", "linux").wantCode(t, 3)
	write(t, "f.yaml", "eval: {rules: r, logsource_routing: {enabled: true, derive: off}}\n")
	got := sluice(t, sysmon+"\n", "eval", "--config", "f.yaml")
	got.wantErr(t, "1 event has no log source.")
}

func TestTheListOfPipelinesFitsIntoTheTerminal(t *testing.T) {
	for _, width := range []int{40, 60, 80, 120, 200} {
		header := []string{"NAME", "PRIORITY", "DESCRIPTION", "EVENTS"}
		rows := [][]string{{"ecs_windows", "20", strings.Repeat("d", 74), strings.Repeat("e", 64)}, {"sysmon", "10", "short", "x"}}
		fitLast(header, rows, width)
		for _, r := range rows {
			if n := 11 + 2 + 8 + 2 + max(len("DESCRIPTION"), len(rows[0][2])) + 2 + len(r[3]); width >= 60 && n > width {
				t.Errorf("%d columns: a row of %d: %q", width, n, r)
			}
		}
		if whole := len(rows[0][2]) == 74 && len(rows[0][3]) == 64; whole != (width == 200) {
			t.Errorf("%d columns: %q", width, rows[0])
		}
	}
}
