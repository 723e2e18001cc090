package bundle

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/sigma/ast"
)

var update = flag.Bool("update", false, "rewrite golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("%s differs; got:\n%s\nwant:\n%s", name, got, want)
	}
}

func listed(rules ...*ast.Rule) *catalog.Catalog {
	return catalog.New(rules, nil, func(file string) string { return file }, nil)
}

func rule(id, title string, adapt ...func(*ast.Rule)) *ast.Rule {
	r := &ast.Rule{Meta: ast.Meta{ID: id, Title: title, Origin: ast.Origin{File: "a.yml", Document: 1}}}
	for _, f := range adapt {
		f(r)
	}
	return r
}

const (
	snapshot = `{"incident_id":"383cec03aede7b76","state":"open","trigger":"snapshot","first_seen":1772438400,"last_seen":1772439330,"max_level":"high",` +
		`"result_count":4,"rule_counts":{"rule-b":1,"rule-ssh":3},"group_by":{"match.SourceIp":"10.0.0.1","match.Port":443,"match.User":null},` +
		`"refs":[{"rule":"rule-ssh","level":"high"}],"sample_mode":"refs","bundle_ready":true}`
	now = 1772439330
)

func made(t *testing.T, incident string, rules Rules, entities []Entity) *Bundle {
	t.Helper()
	b, err := New([]byte(incident), rules, entities, now)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func wholeRule(r *ast.Rule) {
	r.Level, r.Tags, r.Description = ast.LevelHigh, []string{"attack.t1110", "vip"}, "  Finds whoever guesses.\n\nSecond part.\n"
	r.FalsePositives = []string{" admins ", " ", "scanners"}
	r.Attributes = map[string]any{
		"sluice.ads.strategy": "count", "sluice.ads.blind_spots": []any{"slow guesses", "other ports"}, "sluice.ads.priority": 3, "sluice.ads.response": "Block.",
		"sluice.ads.technical_context": true, "sluice.ads.validation": "hydra", "other": map[string]any{"x": 1},
	}
}

func TestABundleIsWhatItWas(t *testing.T) {
	rules := listed(rule("rule-ssh", "Repeated login failure", wholeRule), rule("x", "rule-b"))
	fired := int64(1772439300)
	entities := []Entity{
		{"account", "svc-backup", 155, 4, 3, 7, 1772438400, 1772439300, &fired},
		{"sourceip", "10.0.0.1", 20, 1, 1, 1, 1772438400, 1772439300, nil},
	}
	b := made(t, snapshot, rules, entities)
	text, err := b.JSON()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "bundle.golden.json", text)
	golden(t, "bundle.golden.md", b.Markdown())
	grown := strings.Replace(snapshot, `"group_by":{"match.SourceIp":"10.0.0.1","match.Port":443,"match.User":null}`, `"entities":{"match.SourceIp":["10.0.0.1","10.0.0.2"],"match.User":["alice"]}`, 1)
	golden(t, "graph.golden.md", made(t, strings.Replace(grown, `"max_level":"high",`, "", 1), rules, nil).Markdown())
}

func TestKeysAreResolvedAgainstTheRulesThatServe(t *testing.T) {
	respond := func(text string) func(*ast.Rule) {
		return func(r *ast.Rule) { r.Attributes = map[string]any{"sluice.ads.response": text} }
	}
	for _, tc := range []struct {
		name       string
		rules      *catalog.Catalog
		resolution Resolution
		documents  int
	}{
		{"a rule that is gone", listed(rule("other", "Other")), Missing, 0},
		{"a rule with the id", listed(rule("rule-ssh", "SSH")), Unique, 1},
		{"a rule without an id has its title", listed(rule("", "rule-ssh")), Unique, 1},
		{"a title of a rule with another id does not count", listed(rule("other", "rule-ssh")), Missing, 0},
		{"an id and a title that are the same are two rules", listed(rule("rule-ssh", "A"), rule("", "rule-ssh")), Ambiguous, 2},
		{"two rules that say different things", listed(rule("rule-ssh", "A", respond("call")), rule("rule-ssh", "A", respond("wait"))), Ambiguous, 2},
		{"two rules that say the same are one", listed(rule("rule-ssh", "A", respond("call")), rule("rule-ssh", "A", respond("call"))), Unique, 1},
		{"other levels are different", listed(rule("rule-ssh", "A"), rule("rule-ssh", "A", func(r *ast.Rule) { r.Level = ast.LevelLow })), Ambiguous, 2},
		{"other tags are different", listed(rule("rule-ssh", "A"), rule("rule-ssh", "A", func(r *ast.Rule) { r.Tags = []string{"x"} })), Ambiguous, 2},
		{"other descriptions are different", listed(rule("rule-ssh", "A"), rule("rule-ssh", "A", func(r *ast.Rule) { r.Description = "x" })), Ambiguous, 2},
		{"other false positives are different", listed(rule("rule-ssh", "A"), rule("rule-ssh", "A", func(r *ast.Rule) { r.FalsePositives = []string{"x"} })), Ambiguous, 2},
		{"any attribute counts", listed(rule("rule-ssh", "A"), rule("rule-ssh", "A", func(r *ast.Rule) { r.Attributes = map[string]any{"mine": 1} })), Ambiguous, 2},
		{"what nobody is shown does not count", listed(rule("rule-ssh", "A"), rule("rule-ssh", "A", func(r *ast.Rule) { r.Author = "x" })), Unique, 1},
		{
			"a correlation is another kind, and comes last",
			catalog.New([]*ast.Rule{rule("rule-ssh", "A")}, []*ast.Correlation{{Meta: ast.Meta{ID: "rule-ssh", Title: "A"}}}, func(f string) string { return f }, nil), Ambiguous, 2,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := made(t, snapshot, tc.rules, nil)
			if len(b.Rules) != 2 || b.Rules[0].Key != "rule-b" || b.Rules[0].Resolution != Missing || b.Rules[1].Key != "rule-ssh" || b.Rules[1].Count != 3 {
				t.Fatalf("got rules %+v", b.Rules)
			}
			got := b.Rules[1]
			if got.Resolution != tc.resolution || len(got.Documents) != tc.documents || got.Documents == nil {
				t.Errorf("got %s with %d documents, want %s with %d", got.Resolution, len(got.Documents), tc.resolution, tc.documents)
			}
			if n := len(got.Documents); n == 2 && tc.name[:13] == "a correlation" && got.Documents[1].Identity.Kind != catalog.Correlation {
				t.Errorf("got %s last", got.Documents[1].Identity.Kind)
			}
		})
	}
}

func TestSectionsHoldWhatTheRuleSays(t *testing.T) {
	all := func(adapt func(*ast.Rule)) map[string]any {
		b := made(t, snapshot, listed(rule("rule-ssh", "A", adapt)), nil)
		found := make(map[string]any)
		var ids []string
		for _, s := range b.Rules[1].Documents[0].ADS.Sections {
			ids = append(ids, s.ID)
			if !s.Required || s.Present != (s.Content != nil) {
				t.Errorf("got section %+v", s)
			}
			if s.Present {
				found[s.ID] = s.Content
			}
		}
		want := []string{"goal", "categorization", "strategy", "technical_context", "blind_spots", "false_positives", "validation", "priority", "response"}
		if !slices.Equal(ids, want) {
			t.Errorf("got sections %q, want %q", ids, want)
		}
		return found
	}
	attribute := func(name string, value any) func(*ast.Rule) {
		return func(r *ast.Rule) { r.Attributes = map[string]any{name: value} }
	}
	for _, tc := range []struct {
		name  string
		adapt func(*ast.Rule)
		want  string // what is present, as JSON
	}{
		{"nothing", func(*ast.Rule) {}, `{}`},
		{"a description is trimmed", func(r *ast.Rule) { r.Description = " \n a b \n" }, `{"goal":"a b"}`},
		{"a blank description is none", func(r *ast.Rule) { r.Description = " \n" }, `{}`},
		{"tags of ATT&CK alone", func(r *ast.Rule) { r.Tags = []string{"vip", "attack.t1", "attackers.x", "attack.execution"} }, `{"categorization":["attack.t1","attack.execution"]}`},
		{"other tags are none", func(r *ast.Rule) { r.Tags = []string{"vip"} }, `{}`},
		{"false positives are trimmed, blank ones left out", func(r *ast.Rule) { r.FalsePositives = []string{" a ", " ", "b"} }, `{"false_positives":["a","b"]}`},
		{"blank false positives are none", func(r *ast.Rule) { r.FalsePositives = []string{" "} }, `{}`},
		{"a list has its single values as texts", attribute("sluice.ads.blind_spots", []any{"a", "  ", map[string]any{"x": 1}, 3}), `{"blind_spots":["a","3"]}`},
		{"a list of a list is empty", attribute("sluice.ads.blind_spots", []any{[]any{"a"}, nil}), `{}`},
		{"a blank text is none", attribute("sluice.ads.strategy", "  "), `{}`},
		{"a text is trimmed", attribute("sluice.ads.strategy", " x "), `{"strategy":"x"}`},
		{"a number", attribute("sluice.ads.priority", 2.5), `{"priority":"2.5"}`},
		{"a large integer", attribute("sluice.ads.priority", int64(9007199254740993)), `{"priority":"9007199254740993"}`},
		{"a boolean", attribute("sluice.ads.validation", false), `{"validation":"false"}`},
		{"null is none", attribute("sluice.ads.response", nil), `{}`},
		{"a mapping is none", attribute("sluice.ads.technical_context", map[string]any{"x": "y"}), `{}`},
		{"a level is no priority", func(r *ast.Rule) { r.Level = ast.LevelHigh }, `{}`},
		{"other attributes are no sections", attribute("ads.response", "x"), `{}`},
		{"an exemption has no effect", attribute("sluice.ads.exempt", true), `{}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := json.Marshal(all(tc.adapt))
			if err != nil || string(got) != tc.want {
				t.Errorf("got %s, %v, want %s", got, err, tc.want)
			}
		})
	}
}

func TestADocumentLeavesOutWhatTheRuleDoesNotHave(t *testing.T) {
	b := made(t, snapshot, listed(rule("", "rule-ssh")), nil)
	text, err := json.Marshal(b.Rules[1].Documents[0])
	if err != nil || !strings.HasPrefix(string(text), `{"identity":{"kind":"detection","title":"rule-ssh"},"ads":{`) {
		t.Errorf("got %s, %v", text, err)
	}
}

func TestRiskIsJoinedByWhatResultsNameElseByTheGroup(t *testing.T) {
	base := `{"incident_id":"i","rule_counts":{},"sample_mode":"refs",`
	result := func(objects string) string {
		return `{"rule_title":"x","enrichments":{"risk.objects":` + objects + `}}`
	}
	entities := []Entity{{Type: "user", Value: "alice"}, {Type: "host", Value: "alice"}, {Type: "user", Value: "bob"}, {Type: "User", Value: "alice"}}
	for _, tc := range []struct {
		name, incident string
		want           string // matched_on type value, joined
	}{
		{"a group value of the type of the entity", base + `"group_by":{"match.User":"alice"}}`, "group_key user alice, group_key User alice"},
		{"the last part of a path counts", base + `"group_by":{"enrichment.owner.host":"alice"}}`, "group_key host alice"},
		{"values are compared exactly", base + `"group_by":{"match.User":"Alice"}}`, ""},
		{"only texts are compared", base + `"group_by":{"match.User":1}}`, ""},
		{"an absent value is none", base + `"group_by":{"match.User":null}}`, ""},
		{"an entity of the graph", base + `"entities":{"match.Host":["bob"],"match.User":["bob","carol"]}}`, "group_key user bob"},
		{"a result names it", base + `"results":[` + result(`[{"type":"host","value":"alice"}]`) + `]}`, "risk_object host alice"},
		{"types of results are compared exactly", base + `"results":[` + result(`[{"type":"User","value":"alice"}]`) + `]}`, "risk_object User alice"},
		{"the group is not looked at when a result names any", base + `"group_by":{"match.User":"alice"},"results":[` + result(`[{"type":"host","value":"else"}]`) + `]}`, ""},
		{"it is when no result names any", base + `"group_by":{"match.User":"alice"},"results":[{"rule_title":"x"},` + result(`[]`) + `]}`, "group_key user alice, group_key User alice"},
		{"an enricher that writes something else names none", base + `"group_by":{"match.User":"bob"},"results":[` + result(`"x"`) + `,{"enrichments":{"risk.objects":{"type":1}}}]}`, "group_key user bob"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b := made(t, tc.incident, listed(), entities)
			var got []string
			for _, o := range b.Risk {
				got = append(got, string(o.MatchedOn)+" "+o.Type+" "+o.Value)
			}
			if text := strings.Join(got, ", "); text != tc.want {
				t.Errorf("got %s, want %s", text, tc.want)
			}
		})
	}
}

func TestRiskIsLeftOutOnlyWhenNoneIsAccumulated(t *testing.T) {
	for _, tc := range []struct {
		name     string
		entities []Entity
		risk     string
		sources  string
		markdown string
	}{
		{"no accumulator", nil, "", `"sources":{"rules":true,"risk":false}`, "## Risk\n\nNo risk is accumulated.\n\n"},
		{"no overlap", []Entity{}, `,"risk":[]`, `"sources":{"rules":true,"risk":true}`, "## Risk\n\nNo entity with risk overlaps this incident.\n\n"},
	} {
		b := made(t, snapshot, listed(), tc.entities)
		text, err := json.Marshal(b)
		if err != nil || strings.Contains(string(text), `,"risk":[`) != (tc.risk != "") || !strings.Contains(string(text), tc.sources) {
			t.Errorf("%s: got %s, %v", tc.name, text, err)
		}
		if !strings.HasSuffix(string(b.Markdown()), tc.markdown) {
			t.Errorf("%s: got %s", tc.name, b.Markdown())
		}
	}
}

func TestAnIncidentThatCannotBeReadIsAnError(t *testing.T) {
	if _, err := New([]byte(`{"first_seen":"x"}`), listed(), nil, now); err == nil {
		t.Error("got no error")
	}
}

func TestEmphasisOfATitleIsEscaped(t *testing.T) {
	b := made(t, snapshot, listed(rule("rule-ssh", "a*b")), nil)
	if got := string(b.Markdown()); !strings.Contains(got, "\n**a\\*b**\n") {
		t.Errorf("got %s", got)
	}
}
