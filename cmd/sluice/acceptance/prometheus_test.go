package acceptance

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

func watching(name ...string) string {
	return filepath.Join(append([]string{root, "examples"}, name...)...)
}

func TestPrometheusUnderstandsTheAlerts(t *testing.T) {
	plainly(t)
	promtool := sigmatest.Tool(t, "promtool", "prometheus")
	for _, args := range [][]string{
		{"check", "config", watching("prometheus", "prometheus.yml")},
		{"check", "rules", "--lint-fatal", watching("prometheus", "alerts.yaml")},
		{"test", "rules", watching("prometheus", "alerts_test.yaml")},
	} {
		if got := finish(t, exec.Command(promtool, args...), ""); got.code != 0 {
			t.Errorf("promtool %s: exit code %d\n%s%s", strings.Join(args, " "), got.code, got.stdout, got.stderr)
		}
	}
}

// A Prometheus that shows a token finds it in a file, which is not part of the examples.
func TestPrometheusUnderstandsTheConfigurationWithAToken(t *testing.T) {
	promtool := sigmatest.Tool(t, "promtool", "prometheus")
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(watching("prometheus"))); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "sluice-token", "secret")
	if got := finish(t, exec.Command(promtool, "check", "config", filepath.Join(dir, "authorization.yml")), ""); got.code != 0 {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// alerts are the alert rules, as far as the tests read them.
func alerts(t *testing.T) (all []struct{ Alert, Expr string }) {
	t.Helper()
	raw, err := os.ReadFile(watching("prometheus", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	for _, g := range file.Groups {
		all = append(all, g.Rules...)
	}
	if len(all) == 0 {
		t.Fatal("no alerts")
	}
	return all
}

// The tests that promtool runs show each alert firing, and each staying quiet.
func TestEachAlertIsShownFiringAndQuiet(t *testing.T) {
	raw, err := os.ReadFile(watching("prometheus", "alerts_test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Tests []struct {
			Checks []struct {
				Name   string `yaml:"alertname"`
				Alerts []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	if err := yaml.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	fires, quiet := make(map[string]bool), make(map[string]bool)
	for _, test := range file.Tests {
		for _, c := range test.Checks {
			if len(c.Alerts) > 0 {
				fires[c.Name] = true
			} else {
				quiet[c.Name] = true
			}
		}
	}
	for _, a := range alerts(t) {
		if !fires[a.Alert] || !quiet[a.Alert] {
			t.Errorf("%s is shown firing: %v, and quiet: %v", a.Alert, fires[a.Alert], quiet[a.Alert])
		}
	}
}

// dashboard is what the tests read of the dashboard.
type dashboard struct {
	Panels     []panel
	Templating struct {
		List []struct{ Name, Query string }
	}
}

type panel struct {
	ID      int
	Type    string
	Title   string
	GridPos struct{ H, W, X, Y int }
	Targets []struct{ Expr string }
	Panels  []panel
}

func readDashboard(t *testing.T) (d dashboard) {
	t.Helper()
	raw, err := os.ReadFile(watching("grafana", "sluice.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// all are the panels that show something, those of collapsed rows included.
func (d dashboard) all() (all []panel) {
	for _, p := range d.Panels {
		if p.Type != "row" {
			all = append(all, p)
		}
		all = append(all, p.Panels...)
	}
	return all
}

var seriesName = regexp.MustCompile(`\bsvc_[a-z_]+`)

// catalogue tells whether the reference page, which is made from a running daemon, has a
// series.
func catalogue(t *testing.T) func(name string) bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(root, "docs", "metrics.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, generated, _ := strings.Cut(string(raw), generatedBegin)
	return func(name string) bool {
		for _, part := range []string{"", "_bucket", "_sum", "_count"} {
			kind := ""
			if part != "" {
				kind = " histogram |"
			}
			if base, ok := strings.CutSuffix(name, part); ok && strings.Contains(generated, "| `"+base+"` |"+kind) {
				return true
			}
		}
		return false
	}
}

func TestAlertsAndDashboardNameSeriesThatExist(t *testing.T) {
	exists := catalogue(t)
	want := func(where, text string) {
		t.Helper()
		names := seriesName.FindAllString(text, -1)
		if len(names) == 0 {
			t.Errorf("%s names no series: %s", where, text)
		}
		for _, name := range names {
			if !exists(name) {
				t.Errorf("%s: there is no series %s", where, name)
			}
		}
	}
	for _, a := range alerts(t) {
		if !strings.Contains(a.Expr, `up{job="sluice"}`) { // a series of Prometheus
			want(a.Alert, a.Expr)
		}
	}
	d := readDashboard(t)
	for _, p := range d.all() {
		for _, target := range p.Targets {
			want(p.Title, target.Expr)
		}
	}
	for _, v := range d.Templating.List {
		if strings.Contains(v.Query, "(") {
			want(v.Name, v.Query)
		}
	}
}

// Panels have a number of their own, a query and a place that no other takes.
func TestTheDashboardIsWhole(t *testing.T) {
	d := readDashboard(t)
	ids, taken := make(map[int]bool), make(map[string]string)
	for _, p := range append(d.all(), slices.DeleteFunc(slices.Clone(d.Panels), func(p panel) bool { return p.Type != "row" })...) {
		if ids[p.ID] || p.ID == 0 || p.Title == "" {
			t.Errorf("panel %q has the number %d of another", p.Title, p.ID)
		}
		ids[p.ID] = true
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q shows nothing", p.Title)
		}
		g := p.GridPos
		if g.X+g.W > 24 || g.H < 1 || g.W < 1 {
			t.Errorf("panel %q stands outside the grid: %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				at := fmt.Sprint(x, ",", y)
				if other := taken[at]; other != "" {
					t.Fatalf("panels %q and %q stand on each other", p.Title, other)
				}
				taken[at] = p.Title
			}
		}
	}
}

// Prometheus reads each query of the dashboard.
func TestPrometheusUnderstandsTheDashboard(t *testing.T) {
	promtool := sigmatest.Tool(t, "promtool", "prometheus")
	type record struct {
		Record string `yaml:"record"`
		Expr   string `yaml:"expr"`
	}
	var records []record
	for _, p := range readDashboard(t).all() {
		for i, target := range p.Targets {
			records = append(records, record{fmt.Sprintf("panel:%d:%d", p.ID, i), target.Expr})
		}
	}
	raw, err := yaml.Marshal(map[string]any{"groups": []any{map[string]any{"name": "dashboard", "rules": records}}})
	if err != nil {
		t.Fatal(err)
	}
	got := finish(t, exec.Command(promtool, "check", "rules", write(t, t.TempDir(), "dashboard.yaml", string(raw))), "")
	if got.code != 0 {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
