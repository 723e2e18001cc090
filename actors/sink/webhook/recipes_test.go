package webhook_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/template"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

// recipeVars are what the recipes ask for.
var recipeVars = map[string]string{
	"SLACK_PATH": "T000/B000/XXXX", "TEAMS_URL": "https://example.invalid/workflows/1?sig=2", "PAGERDUTY_KEY": strings.Repeat("k", 32),
	"JIRA_SITE": "example.atlassian.net", "JIRA_LOGIN": "YTpi", "JIRA_PROJECT": "SEC", "ALERTMANAGER": "127.0.0.1:9093",
	"THEHIVE": "thehive.example", "THEHIVE_KEY": "key", "DISCORD_URL": "https://discord.com/api/webhooks/1/2",
}

// variable is a reference to the environment.
var variable = regexp.MustCompile(`\$\{(\w+)\}`)

// Every recipe of examples/webhooks makes requests that its receiver's documentation
// allows, whatever the result holds.
func TestRecipesFitTheirReceivers(t *testing.T) {
	const dir = "../../../examples/webhooks"
	names, err := filepath.Glob(dir + "/*.yml")
	if err != nil || len(names) != 7 {
		t.Fatalf("%d recipes, %v", len(names), err)
	}
	// A reference to a variable that is not here would render as nothing.
	getenv := func(name string) string {
		value, ok := recipeVars[name]
		if !ok {
			t.Errorf("the variable %s has no value in this test", name)
		}
		return value
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		head, _, _ := strings.Cut(string(text), "\nwebhooks:")
		for _, m := range variable.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(head, m[1]) {
				t.Errorf("%s: the comment at the top does not say what %s is", name, m[1])
			}
		}
		receiver := strings.TrimSuffix(filepath.Base(name), ".yml")
		t.Run(receiver, func(t *testing.T) {
			schema, err := jsonschema.NewCompiler().Compile(filepath.Join("testdata", "schemas", receiver+".json"))
			if err != nil {
				t.Fatal(err)
			}
			loaded, faults := webhook.Load([]string{name}, webhook.LoadOptions{Getenv: getenv})
			if len(faults) > 0 {
				t.Fatalf("faults: %v", told(dir, faults))
			}
			if schema.Validate(map[string]any{}) == nil {
				t.Error("the schema allows everything")
			}
			for _, w := range loaded {
				taken := 0
				for _, r := range ofEveryKind(t) {
					if !w.Form().Accepts(graph.Payload{Result: r}) {
						continue
					}
					taken++
					body, m, err := rendered(w, r)
					if err != nil {
						t.Errorf("%s: %v", w.ID, err)
						continue
					}
					if m.Subject() != "" {
						if _, err := template.ParseURL([]byte(m.Subject())); err != nil || strings.Contains(m.Subject(), "${") {
							t.Errorf("%s: URL %s, %v", w.ID, m.Subject(), err)
						}
					}
					value, err := jsonschema.UnmarshalJSON(strings.NewReader(body))
					if err != nil {
						t.Errorf("%s: %v in\n%s", w.ID, err, body)
						continue
					}
					if err := schema.Validate(value); err != nil {
						t.Errorf("%s: %v in\n%s", w.ID, err, body)
					}
				}
				if taken < 20 {
					t.Errorf("%s takes only %d of the results", w.ID, taken)
				}
			}
		})
	}
}

// ofEveryKind are results of all levels with ordinary and with hostile values.
func ofEveryKind(t *testing.T) (all []*graph.Result) {
	t.Helper()
	levels := []ast.Level{ast.LevelNone, ast.LevelInformational, ast.LevelLow, ast.LevelMedium, ast.LevelHigh, ast.LevelCritical}
	for _, level := range levels {
		for _, value := range append([]string{"host-1"}, hostile...) {
			title := "Odd login"
			if level == ast.LevelCritical && !strings.ContainsAny(value, "\r\n") {
				title += value
			}
			var event bytes.Buffer
			event.WriteString(`{"winlog":{"record_id":"`)
			event.WriteString(strings.Trim(string(result.AppendJSON(nil, value)), `"`))
			event.WriteString(`7"}}`)
			all = append(all, detection(ast.Meta{Title: title, ID: "r-1", Level: level, Tags: []string{"attack.t1110", value}}, event.String(), "Computer", value, "User", value))
			if level == ast.LevelNone {
				continue
			}
			c := correlatedAt(t, level, 3)
			for i := range c.Correlation.Key {
				c.Correlation.Key[i].Value = value
			}
			all = append(all, c)
		}
		all = append(all, detection(ast.Meta{Title: "bare", Level: level}, ""))
	}
	return all
}

func TestEveryRecipeHasASchemaThatSaysWhereItIsFrom(t *testing.T) {
	names, err := filepath.Glob("testdata/schemas/*.json")
	if err != nil || len(names) != 7 {
		t.Fatalf("%d schemas, %v", len(names), err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(raw, []byte(`"$comment": "https://`)) {
			t.Errorf("%s does not say where it is from", name)
		}
	}
}
