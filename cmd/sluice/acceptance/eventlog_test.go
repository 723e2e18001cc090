package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sources/evtx/evtxtest"
)

// repository is the directory of the project.
func repository(t *testing.T) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return root + "/"
}

// A file of the event log and its records as lines of JSON come to the same.
func TestAnEventLogIsEvaluatedLikeItsRecordsAsJSON(t *testing.T) {
	root := repository(t)
	shared := []string{"engine", "eval", "-r", root + "examples/events/rules", "-p", "windows_evtx", "--logsource-routing", "--include-event", "--match-detail", "full"}
	log := sluice(t, "", append(shared, "-e", "@"+root+"examples/events/windows.evtx")...)
	lines := sluice(t, "", append(shared, "-e", "@"+root+"sources/evtx/testdata/windows.golden")...)
	if log.code != 0 || lines.code != 0 || log.stdout != lines.stdout {
		t.Errorf("exit codes %d and %d\nof the log\n%sof lines\n%s%s", log.code, lines.code, log.stdout, lines.stdout, log.stderr)
	}
	for _, want := range []string{`"rule_title":"Security Log Cleared"`, `"field":"Event.System.EventID.#text","value":1102`, `"field":"Event.EventData.CommandLine"`} {
		if !strings.Contains(log.stdout, want) {
			t.Errorf("results lack %s:\n%s", want, log.stdout)
		}
	}
	if want := "Processed 3 EVTX records, 2 matches.\n"; !strings.Contains(log.stderr, want) {
		t.Errorf("stderr lacks %q:\n%s", want, log.stderr)
	}
}

// Rules may name the places of a record themselves.
func TestRulesAddressTheElementsOfRecords(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", `title: Places
logsource: {product: windows}
detection:
  number: {Event.System.EventID: 1, 'Event.EventData.Image|endswith': '\whoami.exe'}
  text: {'Event.System.EventID.#text': 1102, 'Event.System.TimeCreated.#attributes.SystemTime|startswith': '2026-03-01T10:01'}
  condition: number or text
`)
	got := sluice(t, "", "engine", "eval", "-r", dir, "-e", "@"+repository(t)+"examples/events/windows.evtx", "--fail-on-detection")
	if got.code != 1 || strings.Count(got.stdout, `"rule_title":"Places"`) != 2 {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

func TestADamagedEventLogIsReadAsFarAsItGoes(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "r/a.yml", "title: Any\nlogsource: {product: windows}\ndetection: {sel: {Event.System.EventID: 1}, condition: sel}\n")
	log, err := os.ReadFile("../../../examples/events/windows.evtx")
	if err != nil {
		t.Fatal(err)
	}
	second := evtxtest.Records(log)[1]
	log[second+evtxtest.RecordHead] = 0x3f // no piece of content begins like that
	path := write(t, dir, "x.EVTX", string(log))
	got := sluice(t, "", "engine", "eval", "-r", dir+"/r", "-e", "@"+path)
	if got.code != 0 || strings.Count(got.stdout, "\n") != 1 {
		t.Errorf("exit code %d\n%s", got.code, got.stdout)
	}
	want := "Error reading EVTX record 2: " + path + ": it has a piece of unknown type 0x3f at byte "
	if !strings.Contains(got.stderr, want) || !strings.Contains(got.stderr, "Processed 3 EVTX records, 1 match, 1 not decoded.\n") {
		t.Errorf("stderr lacks %q or the summary:\n%s", want, got.stderr)
	}
	for name, content := range map[string]string{"short.evtx": string(log[:1000]), "text.evtx": strings.Repeat("{}\n", 3000)} {
		got := sluice(t, "", "engine", "eval", "-r", dir+"/r", "-e", "@"+write(t, dir, name, content))
		if got.code != 2 || !strings.Contains(got.stderr, name+": not a file of Windows event records") {
			t.Errorf("%s: exit code %d\n%s", name, got.code, got.stderr)
		}
	}
}

// The daemon reads lines: what an event log is, it says.
func TestTheDaemonReadsNoEventLog(t *testing.T) {
	got := sluice(t, "", "engine", "daemon", "-r", repository(t)+"examples/events/rules", "--api-addr", "127.0.0.1:0", "--input", "windows.evtx")
	if got.code != 3 {
		t.Errorf("exit code %d\n%s", got.code, got.stderr)
	}
}
