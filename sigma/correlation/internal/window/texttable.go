package window

// textTable finds texts by their hashes. What collides stands further on, and
// what is removed is closed up. The zero value is empty.
type textTable struct {
	cells []textCell // a power of two of them, at most three quarters taken
	n     int
}

// textCell is one text, nil when it is free. Comparing hashes first keeps other
// texts out of the cache.
type textCell struct {
	hash uint32
	text *text
}

// at returns the cell at position i, which may lie behind the end.
func (m *textTable) at(i uint32) *textCell { return &m.cells[i&uint32(len(m.cells)-1)] }

func (m *textTable) find(b []byte, hash uint32) *text {
	for i := hash; ; i++ {
		c := m.at(i)
		if c.text == nil || c.hash == hash && c.text.is(b, hash) {
			return c.text
		}
	}
}

// add enters a text that is not in the table.
func (m *textTable) add(t *text) {
	if 4*(m.n+1) > 3*len(m.cells) {
		m.resize(max(2*maxFew, 2*len(m.cells)))
	}
	m.n++
	m.place(textCell{t.hash, t})
}

func (m *textTable) place(c textCell) {
	i := c.hash
	for m.at(i).text != nil {
		i++
	}
	*m.at(i) = c
}

// remove takes out a text of the table.
func (m *textTable) remove(t *text) {
	i := t.hash
	for m.at(i).text != t {
		i++
	}
	mask := uint32(len(m.cells) - 1)
	for next := i + 1; m.at(next).text != nil; next++ {
		// A cell may move back as far as to its home.
		if c := *m.at(next); (next-c.hash)&mask >= (next-i)&mask {
			*m.at(i) = c
			i = next
		}
	}
	*m.at(i) = textCell{}
	if m.n--; len(m.cells) > 2*maxFew && 8*m.n < len(m.cells) {
		m.resize(len(m.cells) / 2)
	}
}

func (m *textTable) resize(size int) {
	old := m.cells
	m.cells = make([]textCell, size)
	for _, c := range old {
		if c.text != nil {
			m.place(c)
		}
	}
}
