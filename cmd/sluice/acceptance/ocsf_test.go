package acceptance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// finding is what tests look at of a finding.
type finding struct {
	ClassUID int `json:"class_uid"`
	TypeUID  int `json:"type_uid"`
	Time     int64
	Message  string
	Metadata struct {
		UID     string
		Product struct{ Name, Version string }
	}
	FindingInfo struct {
		UID     string
		Attacks []map[string]map[string]string
	} `json:"finding_info"`
	Unmapped map[string]any
}

func findings(t *testing.T, text string) (all []finding) {
	t.Helper()
	for line := range strings.Lines(text) {
		var f finding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		all = append(all, f)
	}
	return all
}

// guesses is a rule, and a correlation that counts its matches.
const guesses = `title: Failed Login
id: r1
name: failed
level: low
tags: [attack.t1110, attack.credential-access, team.a]
detection: {sel: {action: login}, condition: sel}
---
title: Passwords Are Guessed
id: c1
level: high
tags: [attack.t1110.001]
correlation: {type: event_count, rules: [failed], group-by: [source], timespan: 5m, condition: {gte: 2}}
`

func TestFindingsLeaveBesideNativeLines(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", guesses)
	r := listen(t)
	file := filepath.Join(dir, "findings.ndjson")
	before := time.Now().Unix()
	got := sluice(t, `{"@timestamp":"2024-07-10T12:30:00.9Z","action":"login","source":"s"}
{"@timestamp":"2024-07-10T12:30:20Z","action":"login","source":"s"}
{"action":"login","source":"t"}
`, "engine", "daemon", "-r", filepath.Join(dir, "rules"), "--api-addr", "127.0.0.1:0", "--correlation-event-mode", "full",
		"--output", "stdout", "--output", "file://"+file+"?format=ocsf", "--output", "unix://"+r.path+"?format=ocsf")
	native := wholeLines(got.stdout)
	if got.code != 0 || len(native) != 4 || strings.Contains(got.stdout, `"timestamp":"2024-07-10T12:30:00Z"`) {
		t.Fatalf("code %d, want 0 and four native lines without a time of their own:\n%s\n%s", got.code, got.stdout, got.stderr)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	all := findings(t, string(raw))
	if len(all) != 4 {
		t.Fatalf("%d findings, want four:\n%s", len(all), raw)
	}
	version := strings.Fields(sluice(t, "", "version").stdout)[1]
	for i, want := range []struct {
		title string
		time  int64
	}{{"Failed Login", 1720614600000}, {"Failed Login", 1720614620000}, {"Passwords Are Guessed", 1720614620000}, {"Failed Login", 0}} {
		f := all[i]
		if f.Message != want.title || f.ClassUID != 2004 || f.TypeUID != 200401 || f.Metadata.Product.Version != version {
			t.Errorf("finding %d: got %+v, want one of %q by version %s", i, f, want.title, version)
		}
		if arrived := f.Time >= before*1000 && f.Time <= time.Now().UnixMilli(); f.Time != want.time && (want.time != 0 || !arrived) {
			t.Errorf("finding %d: got time %d, want %d, or that of the arrival for 0", i, f.Time, want.time)
		}
		if uid := f.FindingInfo.UID; strings.TrimSuffix(uid, "_0") != strings.TrimSuffix(f.Metadata.UID, "_1") || !strings.HasPrefix(uid, "msg_") {
			t.Errorf("finding %d: ids %q and %q, want those of one delivery", i, uid, f.Metadata.UID)
		}
	}
	if a, b := all[1].FindingInfo.UID, all[2].FindingInfo.UID; !strings.HasSuffix(a, "_0000_0") || b != strings.Replace(a, "_0000_0", "_0001_0", 1) {
		t.Errorf("ids %q and %q, want those of two results of one line", a, b)
	}
	r.awaitLines(4)
	if got := strings.Join(r.lines(), "\n") + "\n"; got != string(raw) {
		t.Errorf("the socket got\n%s, want what the file has\n%s", got, raw)
	}
	wantValid(t, string(raw), 4)
}

// wantValid fails unless the published schema finds no fault in findings.
func wantValid(t *testing.T, text string, n int) {
	t.Helper()
	python := os.Getenv("SLUICE_OCSF_PYTHON")
	if python == "" {
		python = "python3"
	}
	ok := exec.Command(python, "-c", "import jsonschema, ocsf_json_schema").Run() == nil
	sigmatest.Need(t, ok, python+" has no schema to validate with: install the Python packages ocsf-json-schema and jsonschema, and name the interpreter in SLUICE_OCSF_PYTHON")
	got := finish(t, exec.Command(python, filepath.Join(root, "graph", "ocsf", "testdata", "validate.py")), text)
	if lines := wholeLines(got.stdout); got.code != 0 || len(lines) != 1 {
		t.Errorf("code %d, want %d findings to be valid:\n%s%s", got.code, n, got.stdout, got.stderr)
	}
}

func TestPrettyIndentsFindingsOnStandardOutputOnly(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	file := filepath.Join(dir, "findings.ndjson")
	got := sluice(t, event("evil")+"\n", "engine", "daemon", "-r", filepath.Join(dir, "a.yml"), "--api-addr", "127.0.0.1:0", "--pretty",
		"--output", "stdout?format=ocsf", "--output", "stdout", "--output", "file://"+file+"?format=ocsf")
	if !strings.Contains(got.stdout, "{\n  \"action_id\": 0,\n  \"action\": \"Unknown\",\n") || !strings.Contains(got.stdout, "{\n  \"rule_title\": \"A\",\n") {
		t.Errorf("got %s, want a finding and a native line, both indented by two spaces\n%s", got.stdout, got.stderr)
	}
	raw, err := os.ReadFile(file)
	if err != nil || len(wholeLines(string(raw))) != 1 {
		t.Errorf("the file has %s, %v, want one line", raw, err)
	}
}

func TestADeadLetterOfAFindingShowsTheNativeLine(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	dead := filepath.Join(dir, "dead")
	got := sluice(t, event("evil")+"\n", "engine", "daemon", "-r", filepath.Join(dir, "a.yml"), "--api-addr", "127.0.0.1:0",
		"--output", "file:///dev/full?format=ocsf", "--sink-retry-max", "0", "--dlq", "file://"+dead)
	raw, err := os.ReadFile(dead)
	var letter struct {
		Original string `json:"original_event"`
		Sink     string
	}
	if err != nil || json.Unmarshal(raw, &letter) != nil {
		t.Fatalf("dead letters %s, %v\n%s", raw, err, got.stderr)
	}
	if want := "[" + resultLine("A", "evil") + "]"; letter.Original != want || letter.Sink != "file" {
		t.Errorf("got %+v, want %s", letter, want)
	}
}

func TestFormatsThatNoSinkHasAreRefused(t *testing.T) {
	plainly(t)
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	for _, tc := range []struct{ name, flag, spec, want string }{
		{"an unknown one", "--output", "file:///d/a.ndjson?format=bogus", "Unknown sink format (supported: ndjson, ocsf)"},
		{"none", "--output", "stdout?format", "Unknown sink format (supported: ndjson, ocsf)"},
		{"two", "--output", "stdout?format=ndjson&format=ocsf", "format= may be specified only once"},
		{"one of dead letters", "--dlq", "stdout?format=ocsf", "format= is only supported on findings sinks"},
	} {
		args := []string{"-r", filepath.Join(dir, "a.yml"), "--api-addr", "127.0.0.1:0", tc.flag, tc.spec}
		if got := sluice(t, "", slices.Concat([]string{"engine", "daemon"}, args)...); got.code != 3 || !strings.Contains(got.stderr, tc.want) {
			t.Errorf("%s: code %d, want 3 and %q:\n%s", tc.name, got.code, tc.want, got.stderr)
		}
	}
}
