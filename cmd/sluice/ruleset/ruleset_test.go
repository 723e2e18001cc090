package ruleset

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/actors/correlate"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load"
)

const rule = `title: Whoami
level: high
logsource: {product: windows, category: process_creation}
detection:
  sel: {CommandLine|contains: whoami}
  condition: sel
`

func dir(t *testing.T, files map[string]string) string {
	t.Helper()
	d := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(d, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

func TestLoad(t *testing.T) {
	d := dir(t, map[string]string{"a.yml": rule, "b.yml": strings.Replace(rule, "high", "low", 1)})
	for _, tc := range []struct {
		name  string
		o     Options
		rules int
		field string // of the first rule
	}{
		{"as written", Options{Roots: []string{d}}, 2, "CommandLine"},
		{"without low levels", Options{Roots: []string{d}, MinLevel: "high"}, 1, "CommandLine"},
		{"through a pipeline", Options{Roots: []string{d}, Pipelines: []string{"ecs_windows"}}, 2, "process.command_line"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r, err := Load(t.Context(), tc.o)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Rules) != tc.rules {
				t.Fatalf("%d rules, want %d", len(r.Rules), tc.rules)
			}
			if got := r.Rules[0].Detections[0].Node.Items[0].Field; got != tc.field {
				t.Errorf("field %s, want %s", got, tc.field)
			}
		})
	}
}

func TestFatalErrorsTellPipelinesFromRules(t *testing.T) {
	d := dir(t, map[string]string{"a.yml": rule})
	if _, err := Load(t.Context(), Options{Roots: []string{d}, Pipelines: []string{"nope.yml"}}); !errors.Is(err, ErrPipeline) {
		t.Errorf("a missing pipeline gives %v, want ErrPipeline", err)
	}
	if _, err := Load(t.Context(), Options{Roots: []string{filepath.Join(d, "nope")}}); err == nil || errors.Is(err, ErrPipeline) {
		t.Errorf("a missing root gives %v, want an error that is no ErrPipeline", err)
	}
}

func TestRouting(t *testing.T) {
	if got := Routing(&LogsourceRouting{}); got != nil {
		t.Errorf("routing that is off gives %v", got)
	}
	got := Routing(&LogsourceRouting{
		Enabled: true, FieldMap: Dimensions{Product: "p"}, EventLogsource: Dimensions{Custom: map[string]string{"a": "b"}},
	})
	if got.Fields.Product != "p" || got.Fields.Service != "" || got.Static.Custom["a"] != "b" {
		t.Errorf("got %+v", got)
	}
}

func TestAProductThatNoRuleHasIsTold(t *testing.T) {
	linux := strings.Replace(rule, "windows", "linux", 1)
	for _, tc := range []struct {
		name, rules, product string
		off                  bool
		want                 string // empty for no doubt
	}{
		{"a product of rules", rule, "Windows", false, ""},
		{"none", rule, "", false, ""},
		{"a misspelt one", rule, "windos", false, `no loaded rule has product "windos" (did you mean 'windows'?)`},
		{"another one", rule + "---\n" + linux, "cisco", false, `no loaded rule has product "cisco" (they have linux, windows)`},
		{"rules that name no product", strings.Replace(rule, "product: windows, ", "", 1), "cisco", false, ""},
		{"routing that is off", rule, "windos", true, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			correlation := correlate.DefaultConfig()
			s := Settings{
				Options: Options{Roots: []string{dir(t, map[string]string{"a.yml": tc.rules})}}, MatchDetail: "off", Correlation: &correlation,
				Routing: &LogsourceRouting{Enabled: !tc.off, EventLogsource: Dimensions{Product: tc.product}},
			}
			b, err := Build(t.Context(), s, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(b.Doubts, "\n"); !strings.HasSuffix(got, tc.want) || (got == "") != (tc.want == "") {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

const count = "title: Count\nid: c\ncorrelation: {type: event_count, rules: [w], timespan: 1h, condition: {gte: 2}}\n"

func TestARuleSetIsBuiltOfAllThatIsUsable(t *testing.T) {
	d := dir(t, map[string]string{"a.yml": "id: w\n" + rule, "b.yml": count + "---\n" + count, "c.yml": "title: Faulty\n"})
	correlation := correlate.DefaultConfig()
	s := Settings{Options: Options{Roots: []string{d}}, MatchDetail: "off", Routing: &LogsourceRouting{}, Correlation: &correlation}
	b, err := Build(t.Context(), s, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(b.Set.Engine.Rules()); n != 1 || !b.Set.Correlates() || b.Set.Rejected != 1 {
		t.Errorf("%d rules, correlates %v, %d rejected, want 1, true and 1", n, b.Set.Correlates(), b.Set.Rejected)
	}
	if len(b.Doubts) != 1 || !strings.Contains(b.Doubts[0], "'c'") {
		t.Errorf("doubts %q, want one about the id that two correlations have", b.Doubts)
	}
}

func TestWhetherRulesWithRejectedDocumentsAreAcceptable(t *testing.T) {
	rejected := []load.Rejected{{}}
	for _, tc := range []struct {
		name   string
		rules  load.Collection
		strict bool
		want   string // in the error, empty for none
	}{
		{"nothing at all", load.Collection{}, true, ""},
		{"one is usable", load.Collection{Rules: []*ast.Rule{{}}, Rejected: rejected}, false, ""},
		{"one is usable, but all have to be", load.Collection{Rules: []*ast.Rule{{}}, Rejected: rejected}, true, "Error compiling rules: 1 document rejected, and --strict-rules allows none"},
		{"none is usable", load.Collection{Rejected: rejected}, false, "1 document rejected, none usable"},
		{"none of several is usable", load.Collection{Rejected: []load.Rejected{{}, {}}}, false, "2 documents rejected, none usable"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			err := (&Rules{Collection: &tc.rules}).Acceptable(tc.strict)
			if (err != nil) != (tc.want != "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}
