package correlation

// table finds slots by the hashes of their keys. What collides stands further
// on, and what is removed is closed up, so nothing is left behind. The zero value
// is empty.
type table struct {
	cells []cell // a power of two of them, at most three quarters taken
	n     int
}

// cell is one slot, one more than its number; zero is free.
type cell struct{ hash, slot uint32 }

// minCells is the size of a small table; a large one shrinks when an eighth of
// it is taken.
const minCells = 8

// at returns the cell at position i, which may lie behind the end.
func (t *table) at(i uint32) *cell { return &t.cells[i&uint32(len(t.cells)-1)] }

// add enters a slot that is not in the table.
func (t *table) add(hash uint64, slot uint32) {
	if 4*(t.n+1) > 3*len(t.cells) {
		t.resize(max(minCells, 2*len(t.cells)))
	}
	t.n++
	t.place(cell{uint32(hash), slot + 1})
}

func (t *table) place(c cell) {
	i := c.hash
	for t.at(i).slot != 0 {
		i++
	}
	*t.at(i) = c
}

// remove takes out a slot that was added with this hash.
func (t *table) remove(hash uint64, slot uint32) {
	i := uint32(hash)
	for t.at(i).slot != slot+1 {
		i++
	}
	mask := uint32(len(t.cells) - 1)
	for next := i + 1; t.at(next).slot != 0; next++ {
		// A cell may move back as far as to its home.
		if c := *t.at(next); (next-c.hash)&mask >= (next-i)&mask {
			*t.at(i) = c
			i = next
		}
	}
	*t.at(i) = cell{}
	if t.n--; len(t.cells) > minCells && 8*t.n < len(t.cells) {
		t.resize(len(t.cells) / 2)
	}
}

func (t *table) resize(size int) {
	old := t.cells
	t.cells = make([]cell, size)
	for _, c := range old {
		if c.slot != 0 {
			t.place(c)
		}
	}
}
