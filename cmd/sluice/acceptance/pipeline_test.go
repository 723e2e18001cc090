package acceptance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mapping is a pipeline that renames CommandLine.
func mapping(to string) string {
	return fmt.Sprintf("transformations: [{id: names, type: field_name_mapping, mapping: {CommandLine: %s}}]\n", to)
}

const toolRule = `title: Tool
name: tool
logsource: {product: windows, category: process_creation}
detection:
  selection: {Image|endswith: '\tool.exe', CommandLine|contains: alpha}
  condition: selection
`

func TestPipelinesFollowTheirFiles(t *testing.T) {
	dir, beside := t.TempDir(), t.TempDir()
	write(t, dir, "a.yml", toolRule)
	write(t, dir, "b.yml", rule("Other", "evil"))
	file := write(t, beside, "p.yml", mapping("first"))
	d := start(t, "-r", dir, "-p", "sysmon", "-p", file, "--input", "http")
	run := func(field string, id int) string {
		return fmt.Sprintf(`{"EventID":%d,"Image":"C:\\w\\tool.exe","%s":"run alpha"}`, id, field)
	}
	count := func(title string) int { return strings.Count(d.stdout.String(), `"rule_title":"`+title+`"`) }
	// The event behind it fires in any case, so that silence can be told from delay.
	judge := func(line string) bool {
		tools, others := count("Tool"), count("Other")
		d.push(line, event("evil"))
		d.await("the event behind", func() bool { return count("Other") > others })
		return count("Tool") > tools
	}
	fired := func(field string) bool { return judge(run(field, 1)) }
	if !fired("first") || fired("second") {
		t.Fatalf("the rule is not the one of the first pipeline: %s", d.stdout)
	}
	replace(t, beside, "p.yml", mapping("second"))
	d.await("the second pipeline", func() bool { return fired("second") })
	if fired("first") {
		t.Error("the first pipeline is still in force")
	}
	if judge(run("second", 5)) {
		t.Error("the built-in pipeline is no longer in the set")
	}

	passes := d.metric("svc_reloads_total")
	failed := 0.0
	fails := func() bool { return d.metric("svc_reloads_failed_total") > failed }
	replace(t, beside, "p.yml", "transformations: {}\n")
	d.await("the failed pass", fails)
	if got := d.get("/readyz").status; got != 503 {
		t.Errorf("readiness %d after a broken pipeline, want 503", got)
	}
	if !fired("second") {
		t.Error("the rules that served before a broken pipeline are gone")
	}
	told := "Error reloading pipeline " + file + ": transformations must be a sequence"
	d.await("the fault in the log", func() bool { return strings.Contains(d.stderr.String(), told) })
	replace(t, beside, "p.yml", mapping("third"))
	d.await("the third pipeline", func() bool { return fired("third") })
	d.await("readiness", func() bool { return d.get("/readyz").status == 200 })
	if got := d.metric("svc_reloads_total"); got < passes+2 {
		t.Errorf("%v passes, want at least %v", got, passes+2)
	}

	// A removed file is as broken as any; what it comes back with is in force.
	failed = d.metric("svc_reloads_failed_total")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	d.await("the pass without the file", fails)
	replace(t, beside, "p.yml", mapping("fourth"))
	d.await("the fourth pipeline", func() bool { return fired("fourth") })
	d.stop()
}

func TestPipelinesInAMountedVolumeFollowItsSwap(t *testing.T) {
	dir, volume := t.TempDir(), t.TempDir()
	write(t, dir, "a.yml", toolRule)
	mount := func(name, content string) {
		write(t, volume, name+"/p.yml", content)
		link := filepath.Join(volume, "..data_tmp")
		if err := os.Symlink(name, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(volume, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	mount("..1", mapping("first"))
	if err := os.Symlink("..data/p.yml", filepath.Join(volume, "p.yml")); err != nil {
		t.Fatal(err)
	}
	d := start(t, "-r", dir, "-p", filepath.Join(volume, "p.yml"), "--input", "http")
	mount("..2", mapping("second"))
	d.await("the second pipeline", func() bool {
		d.push(`{"Image":"C:\\w\\tool.exe","second":"run alpha"}`)
		return strings.Contains(d.stdout.String(), `"field":"second"`)
	})
	d.stop()
}

func TestARuleThatAPipelineRefusesFailsALaterPass(t *testing.T) {
	dir, beside := t.TempDir(), t.TempDir()
	write(t, dir, "a.yml", toolRule)
	write(t, dir, "b.yml", rule("Other", "evil"))
	refuse := func(action string) string {
		return fmt.Sprintf("transformations: [{type: rule_failure, message: nope, action: %s, rule_conditions: [{type: logsource, category: process_creation}]}]\n", action)
	}
	file := write(t, beside, "p.yml", refuse("fail"))
	d := start(t, "-r", dir, "-p", file, "--input", "http")
	if got := d.metric("svc_rules_rejected"); got != 1 {
		t.Errorf("%v rejected documents, want 1", got)
	}
	if body := d.get("/api/v1/rules").body; !strings.Contains(body, "Pipeline rule failure: nope (rule: Tool)") {
		t.Errorf("rules %s lack the reason", body)
	}
	replace(t, beside, "p.yml", refuse("skip"))
	d.await("the pass that leaves the rule out", func() bool { return d.metric("svc_rules_rejected") == 0 })
	if got := d.metric("svc_detection_rules_loaded"); got != 1 {
		t.Errorf("%v rules, want the other one", got)
	}
	replace(t, beside, "p.yml", refuse("fail"))
	d.await("the failed pass", func() bool { return d.metric("svc_reloads_failed_total") >= 1 })
	if got := d.get("/readyz").status; got != 503 {
		t.Errorf("readiness %d after a newly rejected rule, want 503", got)
	}
	d.stop()
}

func TestStartsWithBrokenPipelinesEndWithCodeThree(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", toolRule)
	bad := write(t, dir, "p.txt", "sources: []\n")
	for _, tc := range []struct{ pipeline, want string }{
		{bad, "Error loading pipeline " + bad + ": inline 'sources:' was removed"},
		{dir, "Error loading pipeline " + dir + ": "},
		{"none.yml", "Error loading pipeline none.yml: cannot read pipeline file: "},
	} {
		got := sluice(t, "", "engine", "daemon", "-r", dir, "-p", "windows_evtx", "-p", tc.pipeline, "--api-addr", "127.0.0.1:0")
		if got.code != 3 || !strings.Contains(got.stderr, tc.want) {
			t.Errorf("-p %s ends with %d, want 3 and %q:\n%s", tc.pipeline, got.code, tc.want, got.stderr)
		}
	}
}

// Records as an agent renders them need one flag.
func TestWindowsRecordsAreEvaluatedAsTheyCome(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", toolRule+"---\ntitle: Often\ncorrelation: {type: event_count, rules: [tool], group-by: [User], timespan: 5m, condition: {gte: 2}}\n")
	record := `{"Event":{"System":{"EventID":{"#text":1}},"EventData":{"Image":"C:\\w\\tool.exe","CommandLine":"run alpha","User":"ann"}}}`
	d := start(t, "-r", dir, "-p", "windows_evtx", "-p", "sysmon", "--input", "http")
	d.push(record, record)
	d.stop() // everything has been written then
	for _, want := range []string{
		`"field":"Event.EventData.CommandLine","value":"run alpha"`, `"field":"Event.System.EventID.#text","value":1`,
		`"group_key":[["Event.EventData.User","ann"]],"aggregated_value":2`,
	} {
		if !strings.Contains(d.stdout.String(), want) {
			t.Errorf("results lack %s:\n%s", want, d.stdout)
		}
	}
	judged := sluice(t, record+"\n"+record+"\n", "engine", "eval", "-r", dir, "-p", "windows_evtx", "-p", "sysmon")
	if judged.code != 0 || judged.stdout != d.stdout.String() {
		t.Errorf("eval ends with %d and prints\n%swant what the daemon printed:\n%s%s", judged.code, judged.stdout, d.stdout, judged.stderr)
	}
}
