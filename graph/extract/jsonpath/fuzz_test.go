package jsonpath_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	library "github.com/theory/jsonpath"

	"github.com/sluicehq/sluice/graph/extract/jsonpath"
	"github.com/sluicehq/sluice/graph/extract/tree"
	"github.com/sluicehq/sluice/sigma/event"
)

// The nodes that a query selects are those that the library selects from the same value,
// in whatever order it has the members of objects.
func FuzzQueries(f *testing.F) {
	for _, q := range []string{"$", "$.a", "$..a", "$[*]", "$[-1]", "$[1:5:2]", "$[::-1]", "$..[?@.a == 1]", "$[?@.a && !@.b || count(@.*) > 1]", `$["a","b"]`, "$..*", "$[?length(@.a) < $.n]", "$[?@[?@.a]]"} {
		for _, text := range []string{`{"a":1,"b":[1,{"a":2}],"n":3}`, `[[{"a":1}],{"a":[1,2],"b":null},"x"]`, `{"a":{"a":{"a":[0,-1.5,true]}}}`, `{"a":1,"a":2}`} {
			f.Add(q, []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, query string, text []byte) {
		values, err := tree.Split(nil, text, false)
		if err != nil || len(values) != 1 || len(text) > 300 || len(query) > 100 {
			return
		}
		q, err := jsonpath.Compile(query)
		if err != nil {
			if _, err := library.Parse(query); err == nil {
				t.Fatalf("%s: %v, and the library understands it", query, err)
			}
			return
		}
		run := q.NewRun()
		run.Begin(0)
		var got []string
		repeated := run.Repeated(event.ValueOf(values[0]))
		if err := run.Over(values[0], func(v event.Value) bool {
			node, err := tree.Parse(v.Raw)
			if err != nil {
				t.Fatalf("%s of %s: node %s: %v", query, text, v.Raw, err)
			}
			got = append(got, spelled(t, node))
			return len(got) < 10_000
		}); err != nil || len(got) == 10_000 || repeated && strings.Contains(query, "..") {
			return
		}
		if strings.Contains(query, "match") || strings.Contains(query, "search") || strings.Count(query, "..")+strings.Count(query, "?") > 3 {
			return
		}
		root, err := tree.Parse(values[0])
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for _, node := range library.MustParse(query).Select(root) {
			want = append(want, spelled(t, node))
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s of %s\ngot  %q\nwant %q", query, text, got, want)
		}
	})
}

func spelled(t *testing.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
