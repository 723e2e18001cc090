package window

// What entries take, in bytes, with the slack of the pieces that they live in. It
// depends on the entries alone, not on how a window came to have them: a window that
// was read again weighs the same.
const (
	pieceBytes  = 64 // the first piece and the list of pieces
	runBytes    = 12
	entryBytes  = 20
	rankBytes   = 16 // of a number in order
	textBytes   = 48 // of a distinct text, and its place in the set
	longBytes   = 32 // of a text that does not fit into textBytes, beside its length
	countsBytes = 80
	numberBytes = 80 + pieceBytes
	ranksBytes  = 128
	setBytes    = 112 + pieceBytes
	hitsBytes   = 24
)

func (t *text) weight() int {
	if t.long != nil {
		return textBytes + longBytes + len(*t.long)
	}
	return textBytes
}

// Bytes is what the window takes.
func (c *Counts) Bytes() int { return countsBytes + int(c.sealed.n)*runBytes }

// Bytes is what the window takes.
func (h *Hits) Bytes() int {
	n := hitsBytes
	for i := range h.members {
		n += h.members[i].Bytes()
	}
	return n
}

// Bytes is what the window takes.
func (n *Numbers) Bytes() int {
	own := numberBytes
	if n.ranks != nil {
		own += ranksBytes
	}
	return own + n.Len()*n.weight()
}

// Bytes is what the window takes, in time proportional to the number of distinct
// texts.
func (d *Distinct) Bytes() int { return setBytes + d.Len()*entryBytes + d.texts.weight() }

// weight is what the texts of the set take.
func (s *textSet) weight() int {
	n := 0
	for _, t := range s.few {
		n += t.weight()
	}
	if s.many != nil {
		for _, c := range s.many.cells {
			if c.text != nil {
				n += c.text.weight()
			}
		}
	}
	return n
}
