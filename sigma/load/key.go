package load

import (
	"strings"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load/internal/check"
)

// modifierNames are for those who misspell one.
var modifierNames = ast.ModifierNames()

// key takes a key apart. It reports unknown modifiers, all of them, and false
// when the key is unusable.
func (b *builder) key(n *document.Node) (field string, modifiers ast.Modifiers, ok bool) {
	field, rest, has := strings.Cut(n.Text, "|")
	if !has {
		return field, 0, true
	}
	ok = true
	written := strings.Split(rest, "|")
	for _, name := range written {
		m, known := ast.ParseModifier(name)
		switch {
		case name == "not":
			b.fail(n.Line, "Unknown modifier 'not': negation belongs in the condition")
			ok = false
		case !known:
			b.fail(n.Line, "Unknown modifier '%s'%s", name, suggest.Behind(name, modifierNames))
			ok = false
		case modifiers.Has(m) && ast.TimeParts.Has(m):
			b.failCompile(n.Line, "conflicting modifiers: %s|%s", name, name)
		}
		modifiers = modifiers.With(m)
	}
	if ok && check.Conflicting(modifiers, field == "" || field == ".") {
		if b.Written == nil {
			b.Written = make(map[check.Spelling][]string)
		}
		b.Written[check.Spelling{Line: n.Line, Modifiers: modifiers}] = written
	}
	return field, modifiers, ok
}
