package extract_test

import (
	"context"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/extract"
	"github.com/sluicehq/sluice/graph/extract/tree"
)

// fuzz runs programs of a language over values: nothing brings the process down, all of
// them end, and what they bring is JSON that is as long as it may be.
func fuzz(f *testing.F, l extract.Language, programs ...string) {
	f.Helper()
	for _, program := range programs {
		for _, value := range []string{`{"i":[{"ip":"x","s":9},{"ip":"y","s":2}]}`, `[1,2.5,"x",null,{"a":{"a":[true]}}]`, `{"a":1,"a":{"b":18446744073709551615}}`, `"2026-03-10T00:00:00Z"`, `null`} {
			f.Add(program, []byte(value))
		}
	}
	f.Fuzz(func(t *testing.T, program string, value []byte) {
		if len(program) > 1000 || len(value) > 1000 {
			return
		}
		p, err := extract.Compile(l, program)
		if err != nil {
			if err.Error() == "" || strings.Contains(err.Error(), "library failed") {
				t.Errorf("%s: %v", program, err)
			}
			return
		}
		p.Allow(100_000)
		const limit = 1 << 16
		out, ok, err := p.Run(context.Background(), value, limit)
		switch {
		case err != nil:
			if ok || out != nil || err.Error() == "" || strings.Contains(err.Error(), "library failed") || strings.Contains(err.Error(), "internal error") {
				t.Errorf("%s of %s: %s, %t, %v", program, value, out, ok, err)
			}
		case !ok:
			if out != nil {
				t.Errorf("%s of %s brings %s and no data", program, value, out)
			}
		default:
			if _, err := tree.Parse(out); err != nil && len(out) < limit/2 || len(out) > limit || len(out) == 0 || strings.TrimSpace(string(out[:1])) == "" {
				t.Errorf("%s of %s brings %s: %v", program, value, out, err)
			}
		}
	})
}

func FuzzJQ(f *testing.F) {
	fuzz(f, extract.JQ, ".", ".i[].ip", ".i[] | select(.s > 7)", "..", "[paths]", "halt", "env", "$ENV.a", "input", "def f: f; f", `"a" * 1e9`, "[range(1e9)]", ".a.b", "to_entries", "walk(.)", `@base64`, "try error catch .", "limit(3; repeat(.))", `import "a" as a; .`)
}

func FuzzJSONPath(f *testing.F) {
	fuzz(f, extract.JSONPath, "$", "$.i[0].ip", "$..*", "$.i[?@.s > 7].ip", "$[::-1]", `$["a","b"]`, "$..[?@..a]", "$[?match(@, 'x.*')]", "$[?length(@) > count($..*)]", "$[?value(@.a) == $.b]")
}

func FuzzCEL(f *testing.F) {
	fuzz(f, extract.CEL, "{b'': []}", "data", "data.i.filter(e, e.s > 7).map(e, e.ip)", "has(data.a) ? data.a : null", "{1: data, 'b': [data]}", "data.all(a, data.exists(b, a == b))", "timestamp(data) - duration('1h')", "bytes(data) + b'\\xff'", "data.matches('^a.*$')", "type(data)", "data.map(x, x + x)", "data[0] in data", "google.protobuf.Struct{}", "data.getFullYear('+01:00')", "[1, 2][data]", "data == data")
}
