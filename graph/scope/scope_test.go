package scope

import (
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/result"
)

func of(meta ast.Meta) *graph.Result {
	return &graph.Result{Detection: &result.Detection{Rule: result.NewRule(0, &ast.Rule{Meta: meta})}}
}

func TestScope(t *testing.T) {
	shell := ast.Meta{Title: "Odd shell spawn", ID: "r-os", Level: ast.LevelHigh, Tags: []string{"attack.t1059.001", "attack.execution"}}
	tagged := func(tags ...string) ast.Meta { return ast.Meta{Title: "T", ID: "t", Level: ast.LevelLow, Tags: tags} }
	for _, tc := range []struct {
		name string
		c    Config
		meta ast.Meta
		want bool
	}{
		{"a scope without entries admits everything", Config{}, shell, true},
		{"empty lists are no constraint", Config{Rules: []string{}, Tags: []string{}, Levels: []string{}}, ast.Meta{}, true},

		{"an id", Config{Rules: []string{"r-os"}}, shell, true},
		{"an entry without glob characters is no title", Config{Rules: []string{"Odd shell spawn"}}, shell, false},
		{"a glob over the title", Config{Rules: []string{"Odd *"}}, shell, true},
		{"a glob covers the whole title", Config{Rules: []string{"Odd?shell"}}, shell, false},
		{"a glob is not compared with the id", Config{Rules: []string{"r-*"}}, shell, false},
		{"case matters in globs", Config{Rules: []string{"odd *"}}, shell, false},
		{"case matters in ids", Config{Rules: []string{"R-OS"}}, shell, false},
		{"any entry may match", Config{Rules: []string{"x", "y*", "*spawn"}}, shell, true},
		{"braces alone make no glob", Config{Rules: []string{"{a,b}"}}, ast.Meta{Title: "a"}, false},
		{"braces alone are an id", Config{Rules: []string{"{a,b}"}}, ast.Meta{Title: "x", ID: "{a,b}"}, true},
		{"an empty entry is not the id of a rule without one", Config{Rules: []string{""}}, ast.Meta{Title: "x"}, false},
		{"a title with a glob character that is taken from it", Config{Rules: []string{`what\? *`}}, ast.Meta{Title: "what? now"}, true},

		{"a tag", Config{Tags: []string{"attack.execution"}}, shell, true},
		{"a tag is no prefix", Config{Tags: []string{"attack.execution"}}, tagged("attack.execution.sub"), false},
		{"a prefix keeps its dot: attackers.x", Config{Tags: []string{"attack.*"}}, tagged("attackers.x"), false},
		{"a prefix keeps its dot: attack", Config{Tags: []string{"attack.*"}}, tagged("attack"), false},
		{"a prefix admits what begins with it", Config{Tags: []string{"attack.*"}}, tagged("cve.1", "attack.x"), true},
		{"a lone * admits any tag", Config{Tags: []string{"*"}}, tagged("x"), true},
		{"a lone * wants a tag", Config{Tags: []string{"*"}}, tagged(), false},
		{"only the last * is special", Config{Tags: []string{"a*b*"}}, tagged("a*bc"), true},
		{"a * within a tag is itself", Config{Tags: []string{"a*b"}}, tagged("axb"), false},
		{"case matters in tags", Config{Tags: []string{"Attack.*"}}, shell, false},

		{"a level", Config{Levels: []string{"low", "high"}}, shell, true},
		{"another level", Config{Levels: []string{"critical"}}, shell, false},
		{"a result without a level passes no list", Config{Levels: []string{"informational", "low", "medium", "high", "critical"}}, ast.Meta{Title: "T"}, false},

		{"lists are joined by and: one does not match", Config{Tags: []string{"attack.*"}, Levels: []string{"low"}}, shell, false},
		{"lists are joined by and: all match", Config{Rules: []string{"r-os"}, Tags: []string{"attack.*"}, Levels: []string{"high"}}, shell, true},
	} {
		s, err := Compile(tc.c)
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		if got := s.Admits(of(tc.meta)); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}

func TestFaultsOfScopesAreToldAtOnce(t *testing.T) {
	var c Config
	if err := yaml.Unmarshal([]byte("rules: ['[bad', ok, 'a*{b', 'x*\\']\ntags: ['*']\nlevels: [High, high, urgent]\n"), &c); err != nil {
		t.Fatal(err)
	}
	const want = `scope.rules: glob '[bad' cannot be read: [ is not closed (the character itself is \[)
scope.rules: glob 'a*{b' cannot be read: { is not closed (the character itself is \{)
scope.rules: glob 'x*\' cannot be read: nothing is behind the last backslash
scope.levels: unknown level 'High' (valid levels: informational, low, medium, high, critical) (did you mean 'high'?)
scope.levels: unknown level 'urgent' (valid levels: informational, low, medium, high, critical)`
	if err := c.Validate(); err == nil || err.Error() != want {
		t.Errorf("got\n%v, want\n%s", err, want)
	}
	if s, err := Compile(c); s != nil || err == nil {
		t.Errorf("got %v, %v, want no scope", s, err)
	}
}

func TestAskingAScopeCostsNoMemory(t *testing.T) {
	s, err := Compile(Config{Rules: []string{"x", "Odd {shell,pipe} *"}, Tags: []string{"cve.*", "attack.*"}, Levels: []string{"high"}})
	if err != nil {
		t.Fatal(err)
	}
	r := of(ast.Meta{Title: "Odd shell spawn", Level: ast.LevelHigh, Tags: []string{"attack.t1059"}})
	if n := testing.AllocsPerRun(100, func() {
		if !s.Admits(r) {
			t.Fatal("not admitted")
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
