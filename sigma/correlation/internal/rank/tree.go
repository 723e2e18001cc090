// Package rank keeps numbers in order and finds the k-th smallest.
//
// A Tree is a counted B-tree: equal numbers share one key with a count, so data
// with few distinct values stays small. Insert, Delete and At take time
// logarithmic in the number of distinct values. A key costs 12 bytes plus slack:
// about 17 in a node that is two thirds full.
package rank

import "slices"

const (
	maxKeys = 64
	minKeys = maxKeys / 4
)

// Tree is a multiset of numbers. The zero value is empty. It must not be given
// a NaN.
type Tree struct {
	root *node
	n    int
}

// A node is a leaf, with a count for each key, or has one child per key, the
// key being a lower bound of what the child holds and, but for the leftmost
// children, above everything in the child before.
type node struct {
	keys     []float64
	counts   []uint32
	children []*node
	sizes    []int // numbers below each child
}

// Len returns how many numbers the tree holds, equal ones counted apart.
func (t *Tree) Len() int { return t.n }

// Insert adds v.
func (t *Tree) Insert(v float64) {
	if t.root == nil {
		t.root = &node{}
	}
	t.n++
	t.root.insert(v)
	if len(t.root.keys) > maxKeys {
		left := t.root
		right := left.split()
		t.root = &node{
			keys:     []float64{left.keys[0], right.keys[0]},
			children: []*node{left, right},
			sizes:    []int{left.size(), right.size()},
		}
	}
}

// Delete removes one v and reports whether there was one.
func (t *Tree) Delete(v float64) bool {
	if t.root == nil || !t.root.delete(v) {
		return false
	}
	t.n--
	for len(t.root.children) == 1 {
		t.root = t.root.children[0]
	}
	if t.n == 0 {
		t.root = nil
	}
	return true
}

// At returns the number of rank k, 0 being the smallest. k must be below Len.
func (t *Tree) At(k int) float64 {
	n := t.root
	for n.children != nil {
		i := 0
		for k >= n.sizes[i] {
			k -= n.sizes[i]
			i++
		}
		n = n.children[i]
	}
	for i, c := range n.counts {
		if k -= int(c); k < 0 {
			return n.keys[i]
		}
	}
	return n.keys[len(n.keys)-1]
}

func (n *node) size() int {
	total := 0
	for _, c := range n.counts {
		total += int(c)
	}
	for _, s := range n.sizes {
		total += s
	}
	return total
}

// child returns the index of the child that holds v or must take it.
func (n *node) child(v float64) int {
	i, found := search(n.keys, v)
	if !found && i > 0 {
		i--
	}
	return i
}

// search returns where v is among keys, or belongs.
func search(keys []float64, v float64) (at int, found bool) {
	end := len(keys)
	for at < end {
		if mid := int(uint(at+end) / 2); keys[mid] < v {
			at = mid + 1
		} else {
			end = mid
		}
	}
	return at, at < len(keys) && keys[at] == v
}

func (n *node) insert(v float64) {
	if n.children == nil {
		i, found := search(n.keys, v)
		if found {
			n.counts[i]++
			return
		}
		n.keys = slices.Insert(n.keys, i, v)
		n.counts = slices.Insert(n.counts, i, 1)
		return
	}
	i := n.child(v)
	c := n.children[i]
	c.insert(v)
	n.sizes[i]++
	n.keys[i] = min(n.keys[i], v)
	if len(c.keys) > maxKeys {
		n.splitChild(i)
	}
}

func (n *node) splitChild(i int) {
	right := n.children[i].split()
	size := right.size()
	n.sizes[i] -= size
	n.keys = slices.Insert(n.keys, i+1, right.keys[0])
	n.children = slices.Insert(n.children, i+1, right)
	n.sizes = slices.Insert(n.sizes, i+1, size)
}

// split moves the upper half of n to a new node.
func (n *node) split() *node {
	h := len(n.keys) / 2
	right := &node{keys: slices.Clone(n.keys[h:])}
	n.keys = n.keys[:h]
	if n.children == nil {
		right.counts = slices.Clone(n.counts[h:])
		n.counts = n.counts[:h]
		return right
	}
	right.children = slices.Clone(n.children[h:])
	right.sizes = slices.Clone(n.sizes[h:])
	clear(n.children[h:])
	n.children, n.sizes = n.children[:h], n.sizes[:h]
	return right
}

func (n *node) delete(v float64) bool {
	if n.children == nil {
		i, found := search(n.keys, v)
		if !found {
			return false
		}
		if n.counts[i]--; n.counts[i] == 0 {
			n.keys = slices.Delete(n.keys, i, i+1)
			n.counts = slices.Delete(n.counts, i, i+1)
		}
		return true
	}
	i := n.child(v)
	if !n.children[i].delete(v) {
		return false
	}
	n.sizes[i]--
	if len(n.children[i].keys) < minKeys {
		n.merge(i)
	}
	return true
}

// merge joins the thin child i with a neighbour when both fit into one node. A
// child with a full neighbour stays thin; an empty one is dropped.
func (n *node) merge(i int) {
	if len(n.children[i].keys) == 0 {
		n.dropChild(i)
		return
	}
	if i+1 == len(n.children) {
		i--
	}
	if i < 0 {
		return
	}
	left, right := n.children[i], n.children[i+1]
	if len(left.keys)+len(right.keys) > maxKeys {
		return
	}
	left.keys = append(left.keys, right.keys...)
	left.counts = append(left.counts, right.counts...)
	left.children = append(left.children, right.children...)
	left.sizes = append(left.sizes, right.sizes...)
	n.sizes[i] += n.sizes[i+1]
	n.dropChild(i + 1)
}

func (n *node) dropChild(i int) {
	n.keys = slices.Delete(n.keys, i, i+1)
	n.children = slices.Delete(n.children, i, i+1)
	n.sizes = slices.Delete(n.sizes, i, i+1)
}
