package textset

import (
	"bytes"
	"slices"
	"sort"
)

// tree is the automaton of Aho and Corasick over the texts of a set: a trie in which
// each node knows the longest of its proper suffixes that is a node, too. Nodes are
// numbered level by level, and the children of a node follow each other.
type tree struct {
	label  []byte  // of the step to a node
	first  []int32 // of the children; they end where those of the next node begin
	fail   []int32 // the longest proper suffix
	output []int32 // the longest proper suffix that is a text, root for none
	depth  []int32
	ends   []bool // the node is a text
	links  []link // by node, nil until rows are matched
}

// link is what texts have in common that end with a text: those of its ends that are
// texts, too, and between 64 lengths of each other.
type link struct {
	lengths uint64 // bit 63 is the first length behind base
	base    int32  // a multiple of 64
	below   int32  // the longest end that is no longer than base
	met     int32  // where the finder has it
}

const root int32 = 0

// span is a node whose texts are those from lo up to hi.
type span struct{ lo, hi int }

func newTree(f *Finder, texts [][]byte) *tree {
	texts = slices.Clone(texts)
	slices.SortFunc(texts, func(a, b []byte) int {
		f.Steps += 1 + uint64(min(len(a), len(b)))
		return bytes.Compare(a, b)
	})
	texts = slices.CompactFunc(texts, bytes.Equal)
	size := 1
	for _, t := range texts {
		size += len(t)
	}
	f.Steps += uint64(size)
	t := &tree{
		label: make([]byte, 1, size), first: make([]int32, 0, size+1), depth: make([]int32, 1, size), ends: make([]bool, 1, size),
	}
	level, next := []span{{0, len(texts)}}, []span(nil)
	for depth := 0; len(level) > 0; depth++ {
		for _, s := range level {
			node := len(t.first)
			t.first = append(t.first, int32(len(t.label)))
			if s.lo < s.hi && len(texts[s.lo]) == depth {
				t.ends[node] = true
				s.lo++
			}
			for s.lo < s.hi {
				c, lo := texts[s.lo][depth], s.lo
				for s.lo < s.hi && texts[s.lo][depth] == c {
					s.lo++
				}
				t.label, t.depth, t.ends = append(t.label, c), append(t.depth, int32(depth+1)), append(t.ends, false)
				next = append(next, span{lo, s.lo})
			}
		}
		level, next = next, level[:0]
	}
	t.first = append(t.first, int32(len(t.label)))
	t.link(f)
	return t
}

// link finds the suffixes of all nodes.
func (t *tree) link(f *Finder) {
	t.fail, t.output = make([]int32, len(t.label)), make([]int32, len(t.label))
	for node := range int32(len(t.label)) {
		for child := t.first[node]; child < t.first[node+1]; child++ {
			if node != root {
				var steps uint64
				t.fail[child], steps = t.step(t.fail[node], t.label[child])
				f.Steps += steps
			}
			t.output[child] = t.last(t.fail[child])
		}
	}
}

// chain makes the links.
func (t *tree) chain(f *Finder) {
	if t.links != nil {
		return
	}
	t.links = make([]link, len(t.label))
	f.Steps += uint64(len(t.label))
	for node := root + 1; node < int32(len(t.label)); node++ {
		if !t.ends[node] {
			continue
		}
		length := t.depth[node] - 1
		l := link{lengths: 1 << 63 >> (length % 64), base: length &^ 63, below: t.output[node]}
		if shorter := &t.links[l.below]; l.below != root && shorter.base == l.base {
			l.lengths, l.below = l.lengths|shorter.lengths, shorter.below
		}
		t.links[node] = l
	}
}

// child returns where a byte leads to from a node, root for nowhere.
func (t *tree) child(node int32, c byte) int32 {
	from := t.first[node]
	labels := t.label[from:t.first[node+1]]
	if len(labels) > 8 {
		if i := sort.Search(len(labels), func(i int) bool { return labels[i] >= c }); i < len(labels) && labels[i] == c {
			return from + int32(i)
		}
		return root
	}
	for i, l := range labels {
		if l == c {
			return from + int32(i)
		}
	}
	return root
}

// step returns the longest suffix of a node and a byte that is a node, and how many
// it looked at.
func (t *tree) step(node int32, c byte) (to int32, steps uint64) {
	for steps = 1; ; steps++ {
		if to = t.child(node, c); to != root || node == root {
			return to, steps
		}
		node = t.fail[node]
	}
}

// last returns the longest suffix of a node that is a text and not empty, root for
// none. The others follow by output.
func (t *tree) last(node int32) int32 {
	if t.ends[node] {
		return node
	}
	return t.output[node]
}

// scan gives visit the node of every position of text but the first, until it returns
// true, and returns that.
func (t *tree) scan(f *Finder, text []byte, visit func(node int32, end int) bool) bool {
	node, total := root, uint64(0)
	defer func() { f.Steps += total }()
	for i, c := range text {
		to, steps := t.step(node, c)
		node, total = to, total+steps
		if visit(node, i+1) {
			return true
		}
	}
	return false
}

// prefixes gives visit the length of every text that text begins with, until it
// returns true, and returns that.
func (t *tree) prefixes(f *Finder, text []byte, visit func(n int) bool) bool {
	node := root
	for i := 0; ; i++ {
		if t.ends[node] && visit(i) {
			return true
		}
		if i == len(text) {
			return false
		}
		f.Steps++
		if node = t.child(node, text[i]); node == root {
			return false
		}
	}
}
