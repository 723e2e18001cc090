package graph

import "sync/atomic"

// Position is where a message stands in the stream of an input that can deliver
// it again.
type Position struct {
	Sequence uint64
	Time     int64 // of its publication, in Unix seconds
}

// Delivery is a line as an input knows it that delivers it again until it is
// acknowledged. Its methods may be called from any goroutine and do not wait.
type Delivery interface {
	Position() Position
	// Entered says that parse has taken the line, in the given epoch. It comes
	// before Ended, and not at all for a line that never reaches parse.
	Entered(epoch uint64)
	// Ended says, once, that everything that came of the line is delivered, dead
	// or dropped by policy.
	Ended()
}

// Receipt stands for the lines of one intake hand-over, such as a request or what
// was pulled from a stream at once. It counts for each line how many holders still
// owe a settlement, and tells its source when a line, and when the last line, is
// settled.
//
// Settling one line twice is a defect of a stage. It never reaches the source;
// Overdrawn counts it, so that tests can insist on zero.
type Receipt struct {
	shares    []atomic.Int32
	open      atomic.Int32
	overdrawn atomic.Int32
	settled   func()
	delivery  func(line uint32) Delivery // nil for a source that cannot deliver again
}

// NewReceipt returns a receipt for the given number of lines, each with one
// share. settled is called once, from whichever goroutine settles last, when no
// line is open any more; it must not wait. A receipt of no lines is settled at once.
func NewReceipt(lines int, settled func()) *Receipt {
	r := &Receipt{shares: make([]atomic.Int32, lines), settled: settled}
	r.open.Store(int32(lines))
	for i := range r.shares {
		r.shares[i].Store(1)
	}
	if lines == 0 {
		settled()
	}
	return r
}

// NewDeliveryReceipt returns a receipt that tells each line's own delivery.
func NewDeliveryReceipt(deliveries []Delivery) *Receipt {
	r := NewReceipt(len(deliveries), func() {})
	r.delivery = func(line uint32) Delivery { return deliveries[line] }
	return r
}

// Token returns the token of a line, counting from 0.
func (r *Receipt) Token(line int) Token { return Token{receipt: r, line: uint32(line)} }

// Withdraw closes the lines from first on, which were never handed over: the rest
// of a run whose sender left. Their deliveries are told nothing.
func (r *Receipt) Withdraw(first int) {
	for i := first; i < len(r.shares); i++ {
		r.settle(uint32(i))
	}
}

// Open is the number of lines not settled yet.
func (r *Receipt) Open() int { return int(r.open.Load()) }

// Overdrawn is the number of settlements beyond the shares there were.
func (r *Receipt) Overdrawn() int { return int(r.overdrawn.Load()) }

// settle releases one share of a line and reports whether it was the last one.
func (r *Receipt) settle(line uint32) bool {
	left := r.shares[line].Add(-1)
	if left < 0 {
		r.shares[line].Add(1)
		r.overdrawn.Add(1)
		return false
	}
	if left > 0 {
		return false
	}
	if r.open.Add(-1) == 0 {
		r.settled()
	}
	return true
}

// Token is the right, and the duty, to settle one line. The zero token belongs
// to a source that needs no acknowledgement: settling it does nothing.
type Token struct {
	receipt *Receipt
	epoch   *Epoch
	line    uint32
}

// Counts reports whether somebody waits for the token.
func (t Token) Counts() bool { return t.receipt != nil }

// Position is where the line stands in its stream, and false for a line of an
// input that cannot deliver it again.
func (t Token) Position() (Position, bool) {
	if t.receipt == nil || t.receipt.delivery == nil {
		return Position{}, false
	}
	return t.receipt.delivery(t.line).Position(), true
}

// Retain adds n further holders to the line; each of them settles once.
func (t Token) Retain(n int) {
	if t.receipt != nil && n > 0 {
		t.receipt.shares[t.line].Add(int32(n))
	}
}

// Settle gives the holder's share back. The last one settles the line.
func (t Token) Settle() {
	if t.receipt != nil {
		t.settle()
	}
}

func (t Token) settle() {
	if !t.receipt.settle(t.line) {
		return
	}
	if t.receipt.delivery != nil {
		t.receipt.delivery(t.line).Ended()
	}
	if t.epoch != nil {
		t.epoch.done()
	}
}

// In counts the token in an epoch, so that a barrier behind it knows when the
// line has ended. The caller is parse, and goes on with the returned token.
func (t Token) In(e *Epoch) Token {
	if t.receipt == nil {
		return t
	}
	return t.in(e)
}

func (t Token) in(e *Epoch) Token {
	e.open.Add(1)
	t.epoch = e
	if t.receipt.delivery != nil {
		t.receipt.delivery(t.line).Entered(e.number)
	}
	return t
}
