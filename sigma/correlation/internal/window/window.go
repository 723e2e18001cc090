package window

// Contribution is what one match adds to a window. Which member is read depends
// on the window: Counts reads none.
type Contribution struct {
	Text    []byte   // Distinct; not kept
	Mark    uint32   // Distinct: Hash of the text
	Number  float64  // Numbers; finite
	Members []uint16 // Hits
}

// Window is the part of a window that does not depend on its entries.
//
// First and Last are meaningful while Len is not zero.
type Window interface {
	// Add inserts an entry behind all entries that are not newer. How to take it
	// back goes to undo, which may be nil, as far as Save does not cover it. Add,
	// DropBefore and Trim return by how much they changed Bytes.
	Add(ts int64, c *Contribution, undo *Undo) int
	// DropBefore removes the entries older than cutoff.
	DropBefore(cutoff int64) int
	// Trim removes the oldest entries until limit are left; of each member, where
	// there are members. With keepFirst the very first entry stays instead of the
	// oldest of the others.
	Trim(limit int, keepFirst bool) int
	// Clear removes all entries.
	Clear()

	// Bytes is what the window takes. It is not for what a fork left behind.
	Bytes() int

	Len() int
	First() int64
	Last() int64

	// Fork returns the window that goes on. From then on the receiver is only
	// for reading, from any goroutine: its length, its bounds, its entries.
	Fork() Window
	// Save copies the window into spare, when that is one of the same type, or
	// into a new one. Restore takes such a copy back, after the undo of everything
	// added since has run; Rebuild must follow before the next change.
	Save(spare Window) Window
	Restore(saved Window)
	// Rebuild computes the aggregate from the entries again.
	Rebuild()

	// Append writes the entries in the form the Read function of the type takes.
	Append(dst []byte) []byte
}

// Undo collects how to take back additions in the middle of windows.
type Undo struct{ steps []func() }

func (u *Undo) add(step func()) {
	if u != nil {
		u.steps = append(u.steps, step)
	}
}

// Run takes everything back, the last first.
func (u *Undo) Run() {
	for i := len(u.steps) - 1; i >= 0; i-- {
		u.steps[i]()
	}
	u.Reset()
}

// Reset forgets what was collected.
func (u *Undo) Reset() {
	if len(u.steps) > 0 {
		clear(u.steps)
		u.steps = u.steps[:0]
	}
}
