package load

import (
	"encoding/json"
	"io/fs"
	"reflect"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/ast"
)

// A rule file that does not load is a bug of ours. Rules with placeholders load
// as templates over event fields.
func TestCorpus(t *testing.T) {
	archive := sigmatest.RuleArchive(t)
	for _, tc := range []struct {
		dir  string
		want int
		open int // rules with placeholders that nothing gives a value
	}{{"rules", 3141, 0}, {"rules-placeholder", 23, 23}, {"rules-compliance", 3, 0}} {
		t.Run(tc.dir, func(t *testing.T) {
			sub, err := fs.Sub(archive, tc.dir)
			if err != nil {
				t.Fatal(err)
			}
			c, err := FromFS(sub, Options{})
			if err != nil {
				t.Fatal(err)
			}
			wantReasons(t, c)
			if len(c.Warnings) != tc.open {
				t.Errorf("%d warnings, want one for each of %d rules with placeholders: %v", len(c.Warnings), tc.open, c.Warnings)
			}
			for _, w := range c.Warnings {
				if !strings.HasPrefix(w.Reason, "no pipeline gives a value to %") {
					t.Errorf("warning %s", w.Reason)
				}
			}
			if len(c.Rules) != tc.want {
				t.Errorf("%d rules, want %d", len(c.Rules), tc.want)
			}
			for i := 0; i < len(c.Rules); i += 7 { // encoding all of them takes most of the test's time
				wantRoundTrip(t, c.Rules[i])
			}
		})
	}
}

func TestCorpusFields(t *testing.T) {
	sub, err := fs.Sub(sigmatest.RuleArchive(t), "rules")
	if err != nil {
		t.Fatal(err)
	}
	c, err := FromFS(sub, Options{})
	if err != nil {
		t.Fatal(err)
	}
	fields := Fields(c)
	most := fields[0]
	for i, f := range fields {
		if i > 0 && fields[i-1].Field >= f.Field {
			t.Fatalf("%s follows %s", f.Field, fields[i-1].Field)
		}
		if f.Rules > most.Rules {
			most = f
		}
	}
	if most.Field != "Image" && most.Field != "CommandLine" {
		t.Errorf("%d fields, the most common one is %+v, want Image or CommandLine", len(fields), most)
	}
}

func BenchmarkCorpus(b *testing.B) {
	dir := sigmatest.RuleDir(b, "rules")
	b.ReportAllocs()
	for b.Loop() {
		if c, err := Load(b.Context(), []string{dir}, Options{}); err != nil || len(c.Rejected) > 0 {
			b.Fatal(err, reasons(c))
		}
	}
}

// wantRoundTrip encodes a document to JSON and back.
func wantRoundTrip[T ast.Rule | ast.Correlation](t *testing.T, v *T) {
	t.Helper()
	first, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var back T
	if err := json.Unmarshal(first, &back); err != nil {
		t.Fatalf("%v in %s", err, first)
	}
	clearAttributes(&back)
	stripped := *v
	clearAttributes(&stripped)
	if reflect.DeepEqual(back, stripped) {
		return
	}
	second, err := json.Marshal(&back)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := json.Marshal(&stripped)
	if err != nil {
		t.Fatal(err)
	}
	if string(second) != string(plain) {
		t.Errorf("JSON gives back\n%s, want\n%s", second, plain)
	}
}

// clearAttributes drops what encoding/json reads back as other types of numbers.
func clearAttributes(v any) {
	switch v := v.(type) {
	case *ast.Rule:
		v.Attributes = nil
	case *ast.Correlation:
		v.Attributes = nil
	}
}
