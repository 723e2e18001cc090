package load

import (
	"encoding/binary"
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
		if slices.EqualFunc(have, made, ast.Detection.Equal) {
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
