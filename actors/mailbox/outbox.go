package mailbox

// outboxFull is the number of pushed elements at which a step should return to
// have them sent.
const outboxFull = 256

// outboxState is what a mailbox needs of an outbox, whatever the element. All of
// it is called from the mailbox's own goroutine.
type outboxState interface {
	commit()   // what was pushed so far is to be sent
	rollback() // what was pushed since is not
	flush()    // send, or park and hold
	resume()   // the parked run is in
	full() bool
	idle() bool
}

// Outbox holds what an actor sends to one successor. The cell sends it when a
// step returns. When the successor has no room, data and ticks are held until
// everything is in; what is pushed meanwhile, by requests and completions,
// follows in order.
//
// A nil outbox leads nowhere.
type Outbox[T any] struct {
	cell      *Cell
	to        Outlet[T]
	pending   []T
	committed int // the leading part of pending that a panic does not take back

	parked   []T // being admitted by the successor
	parking  bool
	admitted func() // tells the mailbox that the parked run is in
	gone     func() // nil, or told that all that was pushed has been sent
}

// NewOutbox attaches an outbox to the cell. It is nil when to is.
func NewOutbox[T any](c *Cell, to Outlet[T]) *Outbox[T] {
	if to == nil {
		return nil
	}
	o := &Outbox[T]{cell: c, to: to}
	o.admitted = func() { c.box.releaseOutbox(o) }
	c.outboxes = append(c.outboxes, o)
	return o
}

// OnSent has f called by the actor's own goroutine each time that the successor
// has taken all that was pushed. It is called before the actor is spawned.
func (o *Outbox[T]) OnSent(f func()) {
	if o != nil {
		o.gone = f
	}
}

// Push appends v to what will be sent. It reports false, and keeps nothing, when
// there is no outlet.
func (o *Outbox[T]) Push(v T) bool {
	if o == nil {
		return false
	}
	o.pending = append(o.pending, v)
	return true
}

// Flush sends at once what was pushed, and reports whether all of it went. It is
// for an actor that decides by it; what was flushed is sent whatever happens to
// the rest of the step.
func (o *Outbox[T]) Flush() bool {
	if o == nil {
		return true
	}
	o.commit()
	o.flush()
	return o.idle()
}

// Waiting is the number of elements that have not left yet.
func (o *Outbox[T]) Waiting() int {
	if o == nil {
		return 0
	}
	return len(o.pending) + len(o.parked)
}

func (o *Outbox[T]) commit() { o.committed = len(o.pending) }

func (o *Outbox[T]) rollback() {
	clear(o.pending[o.committed:])
	o.pending = o.pending[:o.committed]
}

func (o *Outbox[T]) full() bool { return len(o.pending) >= outboxFull }
func (o *Outbox[T]) idle() bool { return len(o.pending) == 0 && !o.parking }

func (o *Outbox[T]) flush() {
	if o.parking || o.committed == 0 {
		return
	}
	n := o.to.TryPut(o.pending[:o.committed])
	rest := o.pending[n:o.committed]
	if len(rest) == 0 {
		o.drop(o.committed)
		o.tell()
		return
	}
	o.parked = append(o.parked[:0], rest...)
	o.drop(o.committed)
	o.parking = true
	o.cell.box.hold()
	o.to.Park(o.parked, o.admitted)
}

func (o *Outbox[T]) tell() {
	if o.gone != nil && o.idle() {
		o.gone()
	}
}

// drop removes the leading n pending elements.
func (o *Outbox[T]) drop(n int) {
	left := copy(o.pending, o.pending[n:])
	clear(o.pending[left:])
	o.pending = o.pending[:left]
	o.committed -= n
}

func (o *Outbox[T]) resume() {
	clear(o.parked)
	o.parked, o.parking = o.parked[:0], false
	o.tell()
	o.flush() // before the hold ends: what was pushed meanwhile goes first
	o.cell.box.release()
}
