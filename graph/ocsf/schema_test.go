package ocsf

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// python returns the interpreter that has the published schema: the one that the
// environment names, else python3.
func python(t *testing.T) string {
	t.Helper()
	name := os.Getenv("SLUICE_OCSF_PYTHON")
	if name == "" {
		name = "python3"
	}
	ok := exec.Command(name, "-c", "import jsonschema, ocsf_json_schema").Run() == nil
	sigmatest.Need(t, ok, name+" has no schema to validate with: install the Python packages ocsf-json-schema and jsonschema, and name the interpreter in SLUICE_OCSF_PYTHON")
	return name
}

// validate returns what the published schema says of findings, a line for each fault.
func validate(t *testing.T, findings []string) []string {
	t.Helper()
	cmd := exec.Command(python(t), "testdata/validate.py")
	cmd.Stdin = strings.NewReader(strings.Join(findings, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if want := fmt.Sprint("validated ", len(findings)); lines[len(lines)-1] != want {
		t.Fatalf("got %s, want %q at the end", out, want)
	}
	return lines[:len(lines)-1]
}

func TestEveryShapeIsValidByThePublishedSchema(t *testing.T) {
	var findings []string
	for _, s := range shapes(t) {
		findings = append(findings, render(t, s.of, 7))
	}
	for _, fault := range validate(t, findings) {
		t.Error(fault)
	}
}

// The schema would find a fault at every depth.
func TestThePublishedSchemaFindsFaults(t *testing.T) {
	all := shapes(t)
	everything := render(t, all[2].of, 7)
	incident := ""
	for _, s := range all {
		if s.name == "an incident" {
			incident = render(t, s.of, 7)
		}
	}
	for _, tc := range []struct{ name, finding, part, instead string }{
		{"a key of nobody", everything, `"action_id":0`, `"no_key":0`},
		{"a severity of nobody", everything, `"severity_id":3`, `"severity_id":42`},
		{"a time that is text", everything, `"time":1720614600000`, `"time":"now"`},
		{"a product without a name", everything, `"name":"sluice",`, ``},
		{"a tactic that says more", everything, `"tactic":{`, `"tactic":{"no_key":1,`},
		{"a resource that is a number", incident, `"name":"10.0.0.1"`, `"name":7`},
		{"an analytic of another type", incident, `"type_id":1`, `"type_id":"rule"`},
	} {
		changed := strings.Replace(tc.finding, tc.part, tc.instead, 1)
		if changed == tc.finding {
			t.Fatalf("%s: %s is not in %s", tc.name, tc.part, tc.finding)
		}
		if faults := validate(t, []string{changed}); len(faults) == 0 {
			t.Errorf("%s: the schema finds no fault in %s", tc.name, changed)
		}
	}
}
