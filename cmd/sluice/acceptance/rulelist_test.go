package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// hits lists rules as "title hits", in the order asked for.
func (d *daemon) hits(query string) string {
	d.t.Helper()
	a := d.get("/api/v1/rules/list?" + query)
	var list []string
	items, ok := a.json(d.t)["items"].([]any)
	if a.status != 200 || !ok {
		d.t.Fatalf("GET /api/v1/rules/list?%s: %d %s", query, a.status, a.body)
	}
	for _, item := range items {
		r := item.(map[string]any)
		last, hit := r["last_hit"].(string)
		if hit != (r["hits"].(float64) > 0) {
			d.t.Errorf("%v has %v hits, the last of them at %q", r["title"], r["hits"], last)
		}
		if at, err := time.Parse(time.RFC3339, last); hit && (err != nil || time.Since(at) > patience || time.Until(at) > time.Minute) {
			d.t.Errorf("%v was last met at %q, want now", r["title"], last)
		}
		list = append(list, fmt.Sprintf("%v %v", r["title"], r["hits"]))
	}
	return strings.Join(list, ", ")
}

const aBurst = "title: Burst\nid: id-burst\ncorrelation:\n  type: event_count\n  rules: id-Base\n  timespan: 1h\n  condition: {gte: 2}\n"

func TestRulesAreListedWithTheirHits(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	write(t, dir, "sub/b.yml", strings.Replace(rule("B", "other"), "detection:", "logsource: {product: windows, category: process_creation}\ndetection:", 1))
	write(t, dir, "c.yml", rule("Base", "login")+"---\n"+aBurst)
	d := start(t, "-r", dir, "--input", "http")
	if got := d.hits(""); got != "A 0, Base 0, B 0, Burst 0" {
		t.Errorf("a fresh daemon lists %s", got)
	}
	d.push(event("evil"), event("evil"), event("login"), event("login"), event("login"))
	want := "Base 3, A 2, Burst 2, B 0" // results of Base are withheld: the burst alone needs them
	if got := d.hits("sort=hits"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := d.metric(`svc_detection_matches_by_rule_total{level="high",rule_title="A"}`); got != 2 {
		t.Errorf("the series counts %v, want 2 as the list", got)
	}
	for query, want := range map[string]string{
		"hit=false": "B 0", "hit=true&level=high": "A 2, Base 3", "product=windows": "B 0", "q=BUR": "Burst 2", "limit=1&sort=title": "A 2",
	} {
		if got := d.hits(query); got != want {
			t.Errorf("?%s: got %s, want %s", query, got, want)
		}
	}
	if a := d.get("/api/v1/rules/list?q=id-B&product=windows"); !strings.Contains(a.body, `"file":"`+dir+`/sub/b.yml","document":1,"logsource":{"product":"windows","category":"process_creation"}`) {
		t.Errorf("got %s", a.body)
	}

	replace(t, dir, "a.yml", rule("A", "wicked"))                                            // the same id
	replace(t, dir, "sub/b.yml", strings.Replace(rule("B", "other"), "id-B", "id-other", 1)) // another id
	d.do("POST", "/api/v1/reload", "")
	d.await("the reload", func() bool { return d.get("/api/v1/status").json(t)["last_reload"] != nil })
	if got := d.hits("sort=hits"); got != want {
		t.Errorf("after a reload: got %s, want %s", got, want)
	}
	d.push(event("wicked"), event("evil"), event("other"))
	if got := d.hits("sort=title"); got != "A 3, B 1, Base 3, Burst 2" {
		t.Errorf("the rules of the reload: got %s", got)
	}
	cli := sluice(t, "", "engine", "rules", "--addr", d.addr, "--sort", "title", "--output-format", "csv", "--limit", "2")
	if lines := strings.Split(cli.stdout, "\n"); cli.code != 0 || len(lines) != 4 || !strings.HasPrefix(lines[1], "high,3,") || !strings.HasPrefix(lines[2], "high,1,") {
		t.Errorf("the command: %+v", cli)
	}
	d.stop()
}
