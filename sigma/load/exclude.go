package load

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/sigma/ast"
)

// Exclusion is one entry of the list of excluded rules.
type Exclusion struct {
	kind exclusionKind
	want string
}

type exclusionKind uint8

const (
	byID exclusionKind = iota
	byTag
	byStatus
)

var statuses = []string{"stable", "test", "experimental", "deprecated", "unsupported"}

// ParseExclusion reads an id, tag:TAG or status:STATUS. A trailing * of a tag
// makes it a prefix.
func ParseExclusion(entry string) (Exclusion, error) {
	e := Exclusion{want: entry}
	if tag, ok := strings.CutPrefix(entry, "tag:"); ok {
		e.kind, e.want = byTag, tag
	} else if status, ok := strings.CutPrefix(entry, "status:"); ok {
		e.kind, e.want = byStatus, status
	}
	switch {
	case strings.TrimSpace(e.want) == "":
		return e, errors.New("exclude rule: an id, tag:TAG or status:STATUS is needed, got " + fmt.Sprintf("%q", entry))
	case e.kind == byStatus && !slices.Contains(statuses, e.want):
		return e, fmt.Errorf("exclude rule %q: unknown status (%s)", entry, strings.Join(statuses, ", "))
	}
	return e, nil
}

func (e *Exclusion) covers(root *document.Node) bool {
	switch e.kind {
	case byTag:
		return slices.ContainsFunc(stringsOf(root.Get("tags")), func(tag string) bool { return MatchTag(e.want, tag) })
	case byStatus:
		status, _ := root.Get("status").Str()
		return status == e.want
	}
	id, ok := root.Get("id").Str()
	return ok && id == e.want
}

// MatchTag compares a tag with a pattern: exactly, or as a prefix when the
// pattern ends in *.
func MatchTag(pattern, tag string) bool {
	if prefix, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(tag, prefix)
	}
	return pattern == tag
}

// excludes decides from the document's own keys, before anything is checked. It
// returns the numbers of the exclusions that cover the document.
func (p *parser) excludes(root *document.Node) (excluded bool, by []int) {
	if p.minLevel != ast.LevelNone {
		text, _ := root.Get("level").Str()
		level, err := ast.ParseLevel(text)
		excluded = err != nil || level < p.minLevel
	}
	for i := range p.exclusions {
		if p.exclusions[i].covers(root) {
			by = append(by, i)
		}
	}
	return excluded || by != nil, by
}

// stringsOf returns the strings of a string or list node, ignoring the rest.
func stringsOf(n *document.Node) []string {
	if s, ok := n.Str(); ok {
		return []string{s}
	}
	if n == nil {
		return nil
	}
	var out []string
	for _, it := range n.Items {
		if s, ok := it.Str(); ok {
			out = append(out, s)
		}
	}
	return out
}
