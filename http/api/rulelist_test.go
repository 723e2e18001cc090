package api

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/sigma/ast"
)

func place(file string) string { return "rules/" + file }

func TestRuleList(t *testing.T) {
	rules := []*ast.Rule{
		{
			Meta:      ast.Meta{Title: "Whoami", ID: "0a1b", Level: ast.LevelHigh, Origin: ast.Origin{File: "win/a.yml", Document: 2}},
			Logsource: ast.Logsource{Product: "windows", Category: "process_creation"},
		},
		{Meta: ast.Meta{Title: "<Sudo>", Origin: ast.Origin{File: "b.yml", Document: 1}}, Logsource: ast.Logsource{Product: "linux", Service: "auth"}},
	}
	bursts := []*ast.Correlation{{Meta: ast.Meta{Title: "Burst", ID: "c", Level: ast.LevelLow, Origin: ast.Origin{File: "c.yml", Document: 1}}}}
	c := catalog.New(rules, bursts, place, nil)
	c.Detection(1).Add(3, 1772452800)
	c.Correlation(0).Add(1, 1772452805)
	const (
		path   = "/api/v1/rules/list"
		whoami = `{"id":"0a1b","title":"Whoami","kind":"detection","level":"high","file":"rules/win/a.yml","document":2,"logsource":{"product":"windows","category":"process_creation"},"hits":0}`
		sudo   = `{"title":"<Sudo>","kind":"detection","file":"rules/b.yml","document":1,"logsource":{"product":"linux","service":"auth"},"hits":3,"last_hit":"2026-03-02T12:00:00Z"}`
		burst  = `{"id":"c","title":"Burst","kind":"correlation","level":"low","file":"rules/c.yml","document":1,"hits":1,"last_hit":"2026-03-02T12:00:05Z"}`
	)
	page := func(total, offset, limit int, next string, items ...string) string {
		return fmt.Sprintf(`{"items":[%s],"total":%d,"offset":%d,"limit":%d,"next_offset":%s}`, strings.Join(items, ","), total, offset, limit, next)
	}
	s := start(t, &daemon{}).everything(&daemon{catalog: c})
	for _, tc := range []row{
		{"all", "GET", path, "", 200, page(3, 0, 100, "null", whoami, sudo, burst)},
		{"an unknown parameter is ignored", "GET", path + "?x=1", "", 200, page(3, 0, 100, "null", whoami, sudo, burst)},
		{"by level", "GET", path + "?level=high", "", 200, page(1, 0, 100, "null", whoami)},
		{"without a level", "GET", path + "?level=unknown", "", 200, page(1, 0, 100, "null", sudo)},
		{"by product", "GET", path + "?product=Windows", "", 200, page(1, 0, 100, "null", whoami)},
		{"by category", "GET", path + "?category=process_creation", "", 200, page(1, 0, 100, "null", whoami)},
		{"by service", "GET", path + "?service=auth", "", 200, page(1, 0, 100, "null", sudo)},
		{"that name no product", "GET", path + "?product=", "", 200, page(1, 0, 100, "null", burst)},
		{"by a part of the title", "GET", path + "?q=WHO", "", 200, page(1, 0, 100, "null", whoami)},
		{"by a part of the id", "GET", path + "?q=0A1", "", 200, page(1, 0, 100, "null", whoami)},
		{"that have matched", "GET", path + "?hit=true", "", 200, page(2, 0, 100, "null", sudo, burst)},
		{"that never have", "GET", path + "?hit=false", "", 200, page(1, 0, 100, "null", whoami)},
		{"by hits", "GET", path + "?sort=hits", "", 200, page(3, 0, 100, "null", sudo, burst, whoami)},
		{"by last hit", "GET", path + "?sort=last_hit", "", 200, page(3, 0, 100, "null", burst, sudo, whoami)},
		{"several filters together", "GET", path + "?q=o&hit=true", "", 200, page(1, 0, 100, "null", sudo)},
		{"none", "GET", path + "?q=nothing", "", 200, page(0, 0, 100, "null")},
		{"the first page", "GET", path + "?limit=2", "", 200, page(3, 0, 2, "2", whoami, sudo)},
		{"the last", "GET", path + "?limit=2&offset=2", "", 200, page(3, 2, 2, "null", burst)},
		{"behind the end", "GET", path + "?offset=3", "", 200, page(3, 3, 100, "null")},
		{"far behind it", "GET", path + "?offset=2147483647&limit=1000", "", 200, page(3, 2147483647, 1000, "null")},
		{"a large limit is lowered", "GET", path + "?limit=5000", "", 200, page(3, 0, 1000, "null", whoami, sudo, burst)},
		{"no limit", "GET", path + "?limit=0", "", 400, `{"error":"query parameter 'limit' must be a positive integer"}`},
		{"a limit in words", "GET", path + "?limit=abc", "", 400, `{"error":"query parameter 'limit' must be a positive integer"}`},
		{"an empty limit", "GET", path + "?limit=", "", 400, `{"error":"query parameter 'limit' must be a positive integer"}`},
		{"a negative offset", "GET", path + "?offset=-1", "", 400, `{"error":"query parameter 'offset' must be a non-negative integer"}`},
		{"two limits", "GET", path + "?limit=1&limit=2", "", 400, `{"error":"query parameter 'limit' is given more than once"}`},
		{"another level", "GET", path + "?level=High", "", 400, `{"error":"query parameter 'level' must be one of informational, low, medium, high, critical, unknown"}`},
		{"another order", "GET", path + "?sort=size", "", 400, `{"error":"query parameter 'sort' must be one of loaded, title, level, file, hits, last_hit"}`},
		{"hit in other words", "GET", path + "?hit=1", "", 400, `{"error":"query parameter 'hit' must be true or false"}`},
		{"another method", "POST", path, "", 405, `{"error":"method not allowed"}`},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.check(t, s) })
	}
	s.everything(&daemon{catalog: catalog.New(nil, nil, place, nil)})
	row{"no rules", "GET", path, "", 200, page(0, 0, 100, "null")}.check(t, s)
}
