package pipeline

import (
	"slices"
	"strings"
	"sync"

	"github.com/sluicehq/sluice/sigma/ast"
)

// variable is what a name stands for.
type variable struct {
	name   string
	values []string
	fed    bool // values of sources are among them
	whole  func() []ast.Value
}

func newVariable(name string, values []string, fed bool) *variable {
	v := &variable{name: name, values: values, fed: fed}
	v.whole = sync.OnceValue(v.parse)
	return v
}

// parse gives the values as those of an item, one list for all rules.
func (v *variable) parse() []ast.Value {
	inserted := v.fed && !v.refers()
	literals := make([]ast.Part, len(v.values))
	out := make([]ast.Value, len(v.values))
	for i, text := range v.values {
		out[i] = ast.Value{Kind: ast.String, Text: text, Inserted: inserted}
		if text != "" && ast.IsLiteral(text) {
			literals[i].Text = text
			out[i].Parts = literals[i : i+1 : i+1]
			continue
		}
		out[i].Parts = ast.ParseParts(text)
	}
	return slices.Clip(out)
}

// refers reports whether a value still looks like a reference that nobody resolved. In
// values of sources nothing does.
func (v *variable) refers() bool {
	return !v.fed && slices.ContainsFunc(v.values, func(s string) bool { return strings.Contains(s, beginning) })
}

// varsFor gives the variables of pipeline i, those of the others behind its own,
// later pipelines first.
func (s *Set) varsFor(i int) map[string]*variable {
	s.views.Do(func() {
		own := make([]map[string]*variable, len(s.Pipelines))
		for k, p := range s.Pipelines {
			own[k] = make(map[string]*variable, len(p.Vars))
			for name, values := range p.Vars {
				if own[k][name] = p.fed[name]; own[k][name] == nil {
					own[k][name] = newVariable(name, values, false)
				}
			}
		}
		for k := range s.Pipelines {
			view := map[string]*variable{}
			for _, vars := range append(slices.Clone(own), own[k]) {
				for name, v := range vars {
					view[name] = v
				}
			}
			s.viewed = append(s.viewed, view)
		}
	})
	return s.viewed[i]
}

// read notes that what a variable stands for decides over the document.
func (r *run) read(v *variable) {
	if v.fed {
		r.uses[v.name] = true
	}
}
