package pipeline

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
)

// A reference names a source, and perhaps a place in its value: ${source.ID} or
// ${source.ID.PATH}. The segments of a path have dots between them.
const (
	sourceID   = `[A-Za-z_][A-Za-z0-9_-]*`
	sourcePath = `[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*`
)

var (
	sourceReference = regexp.MustCompile(`\$\{source\.(` + sourceID + `)(?:\.(` + sourcePath + `))?\}`)
	wholeReference  = regexp.MustCompile(`^` + sourceReference.String() + `$`)
	bareSource      = regexp.MustCompile(`^` + sourceID + `$`)
)

// beginning is what every reference begins with.
const beginning = "${source."

// sourceRef is a reference.
type sourceRef struct{ id, path string }

func (r sourceRef) String() string {
	if r.path == "" {
		return beginning + r.id + "}"
	}
	return beginning + r.id + "." + r.path + "}"
}

// refers reports whether text has a reference.
func refers(text string) bool {
	return strings.Contains(text, beginning) && sourceReference.MatchString(text)
}

// cut cuts text at its references: texts[i] stands before refs[i], and the last text
// behind all of them.
func cut(text string) (texts []string, refs []sourceRef) {
	at := 0
	for _, m := range sourceReference.FindAllStringSubmatchIndex(text, -1) {
		r := sourceRef{id: text[m[2]:m[3]]}
		if m[4] >= 0 {
			r.path = text[m[4]:m[5]]
		}
		texts, refs = append(texts, text[at:m[0]]), append(refs, r)
		at = m[1]
	}
	return append(texts, text[at:]), refs
}

// includeRef reads what an include item names: a reference, or the id of a source alone.
func includeRef(text string) (sourceRef, error) {
	if bareSource.MatchString(text) {
		return sourceRef{id: text}, nil
	}
	if m := wholeReference.FindStringSubmatch(text); m != nil {
		return sourceRef{id: m[1], path: m[2]}, nil
	}
	return sourceRef{}, fmt.Errorf("include '%s' names no source: write ${source.ID}, ${source.ID.PATH} or the id alone", text)
}

// ids gathers the sources that the pipeline refers to.
func (p *Pipeline) ids(into map[string]bool) {
	for _, values := range p.Vars {
		for _, v := range values {
			_, refs := cut(v)
			for _, r := range refs {
				into[r.id] = true
			}
		}
	}
	for _, it := range p.items {
		if inc, ok := it.act.(*include); ok {
			into[inc.ref.id] = true
		}
	}
}

// Sources lists the sources that variables and includes of the set refer to, sorted.
// Once the set is expanded there are none.
func (s *Set) Sources() []string {
	ids := map[string]bool{}
	for _, p := range s.Pipelines {
		if p.Dynamic {
			p.ids(ids)
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// Undeclared returns an error that names every source which the set refers to and
// declared does not know; nil when there is none.
func (s *Set) Undeclared(declared func(id string) bool) error {
	missing := slices.DeleteFunc(s.Sources(), declared)
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("pipeline references undeclared source(s): %s", strings.Join(missing, ", "))
}

// warnElsewhere warns of references where nothing expands them: anywhere below n.
// Where is the place of n, key the key that leads to it.
func (p *Pipeline) warnElsewhere(n *document.Node, where, key string) {
	switch n.Kind {
	case document.String:
		if refers(n.Text) {
			p.warn("%s: '%s': the reference in '%s' is not expanded; references to sources stand in vars and in include", where, key, n.Text)
		}
	case document.List:
		for _, it := range n.Items {
			p.warnElsewhere(it, where, key)
		}
	case document.Map:
		for _, e := range n.Entries {
			p.warnElsewhere(e.Key, where, e.Key.Text)
			p.warnElsewhere(e.Value, where, e.Key.Text)
		}
	}
}
