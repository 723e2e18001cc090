package load

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
)

// interner keeps one copy of what pipelines make, alike, of detections that several
// rules have in common.
type interner struct {
	made    map[*ast.Detection][][]ast.Detection // by what it was made of
	numbers map[*ast.Detection]uint32            // of lists of detections that filters have
	filters map[string][]ast.FilterScope
}

// maxMade bounds the different outcomes that are remembered of one list.
const maxMade = 8

// rule lets a rewritten rule share what others have that were rewritten like it.
func (n *interner) rule(source, rewritten *ast.Rule) {
	rewritten.Detections = n.detections(source.Detections, rewritten.Detections)
	if len(rewritten.Filters) == 0 || &rewritten.Filters[0] == &source.Filters[0] {
		return
	}
	if n.filters == nil {
		n.numbers, n.filters = make(map[*ast.Detection]uint32), make(map[string][]ast.FilterScope)
	}
	var key []byte
	for i := range rewritten.Filters {
		f := &rewritten.Filters[i]
		f.Detections = n.detections(source.Filters[i].Detections, f.Detections)
		if len(f.Detections) == 0 {
			return
		}
		number, ok := n.numbers[&f.Detections[0]]
		if !ok {
			number = uint32(len(n.numbers))
			n.numbers[&f.Detections[0]] = number
		}
		key = binary.LittleEndian.AppendUint32(key, number)
	}
	if have, ok := n.filters[string(key)]; ok {
		rewritten.Filters = have
		return
	}
	n.filters[string(key)] = rewritten.Filters
}

// detections returns the list that stands for those made of source.
func (n *interner) detections(source, made []ast.Detection) []ast.Detection {
	if len(source) == 0 || len(made) == 0 || &source[0] == &made[0] {
		return made
	}
	known := n.made[&source[0]]
	for _, have := range known {
		if sameDetections(have, made) {
			return have
		}
	}
	if n.made == nil {
		n.made = make(map[*ast.Detection][][]ast.Detection)
	}
	if len(known) < maxMade {
		n.made[&source[0]] = append(known, made)
	}
	return made
}

func sameDetections(a, b []ast.Detection) bool {
	return slices.EqualFunc(a, b, func(x, y ast.Detection) bool { return x.Name == y.Name && x.Line == y.Line && sameNode(x.Node, y.Node) })
}

func sameNode(a, b *ast.Node) bool {
	return a == b || a != nil && b != nil &&
		a.Kind == b.Kind && a.Path == b.Path && a.Quantifier == b.Quantifier && a.Line == b.Line &&
		slices.EqualFunc(a.Items, b.Items, sameItem) && slices.EqualFunc(a.Nodes, b.Nodes, sameNode) &&
		sameDetections(a.Detections, b.Detections) && slices.Equal(a.Applied, b.Applied) &&
		slices.EqualFunc(a.Conditions, b.Conditions, func(x, y ast.Condition) bool { return x.Expr == y.Expr && x.Text == y.Text })
}

func sameItem(a, b ast.Item) bool {
	return a.Field == b.Field && a.Modifiers == b.Modifiers && a.Line == b.Line && slices.Equal(a.Paths, b.Paths) &&
		(len(a.Values) == len(b.Values) && (len(a.Values) == 0 || &a.Values[0] == &b.Values[0] || slices.EqualFunc(a.Values, b.Values, sameValue))) &&
		maps.EqualFunc(a.References, b.References, slices.Equal) && slices.Equal(a.Applied, b.Applied)
}

func sameValue(a, b ast.Value) bool {
	return a.Kind == b.Kind && a.Text == b.Text && slices.Equal(a.Parts, b.Parts)
}
