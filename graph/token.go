package graph

import "sync/atomic"

// Position is where a message stands in the stream of an input that can deliver
// it again.
type Position struct {
	Stream   string // the ledger of the input fills it in
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

// Open counts the lines that have come in and not ended, those that nobody waits
// for included: whatever was lost on the way is in it. Nil counts nothing.
type Open struct {
	in, out atomic.Int64
	unasked *Epoch // of lines that nobody waits for
}

// NewOpen returns a count of no lines.
func NewOpen() *Open {
	o := new(Open)
	o.unasked = NewEpoch(o)
	return o
}

// Token is the token of a line that goes on alone: one that nobody waits for counts
// the line from now on.
func (o *Open) Token(t Token) Token {
	if o != nil && t == (Token{}) {
		t.epoch = o.unasked
	}
	return t
}

// Admitted counts lines that have come in.
func (o *Open) Admitted(lines int) {
	if o != nil {
		o.in.Add(int64(lines))
	}
}

// Ended counts lines of which everything is delivered, dead or dropped by policy,
// unless their tokens do.
func (o *Open) Ended(lines int) {
	if o != nil && lines != 0 {
		o.out.Add(int64(lines))
	}
}

// Lines are how many came in so far, and how many of them have not ended.
func (o *Open) Lines() (admitted, open int) {
	out := o.out.Load() // before what came in, so that no line ends that did not
	in := o.in.Load()
	return int(in), int(in - out)
}

// lateShare marks a line that was given up when the drain was over.
const lateShare = 1 << 30

// overdraft is what a settlement too many counts in the remarks of a receipt. No hand-over
// has as many lines.
const overdraft = 1 << 24

// Receipt stands for the lines of one intake hand-over, such as a request or what
// was pulled from a stream at once. It counts for each line how many holders still
// owe a settlement, and tells its source when a line, and when the last line, is
// settled.
//
// Settling one line twice is a defect of a stage. It never reaches the source;
// Overdrawn counts it, so that tests can insist on zero.
type Receipt struct {
	shares   []atomic.Int32
	open     atomic.Int32
	remarks  atomic.Int32               // lines that could not be decoded, and overdraft times what was settled too often
	settled  func()                     // nil when nobody waits for the lines, and no epoch does
	delivery func(line uint32) Delivery // nil for a source that cannot deliver again
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

// Sharer gives lines that nobody waits for a count of their holders, so that they
// end once. The zero value is ready.
type Sharer struct {
	receipt *Receipt
	used    int
}

// sharedAtOnce is how many lines share the memory of their counts.
const sharedAtOnce = 64

// Token returns a token that counts its holders in the place of t.
func (s *Sharer) Token(t Token) Token {
	if t.receipt != nil || t.epoch == nil {
		return t
	}
	if s.receipt == nil || s.used == sharedAtOnce {
		s.receipt, s.used = NewReceipt(sharedAtOnce, nil), 0
	}
	s.used++
	return Token{receipt: s.receipt, epoch: t.epoch, line: uint32(s.used - 1)}
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
func (r *Receipt) Overdrawn() int { return int(r.remarks.Load()) / overdraft }

// Undecoded is the number of lines so far that could not be decoded.
func (r *Receipt) Undecoded() int { return int(r.remarks.Load()) % overdraft }

// settle releases one share of a line. It reports whether it was the last one, and
// whether the line was given up on the way.
func (r *Receipt) settle(line uint32) (last, late bool) {
	left := r.shares[line].Add(-1)
	if left < 0 {
		r.shares[line].Add(1)
		r.remarks.Add(overdraft)
		return false, false
	}
	if left == lateShare {
		return true, true
	}
	if left > 0 {
		return false, false
	}
	if r.open.Add(-1) == 0 && r.settled != nil {
		r.settled()
	}
	return true, false
}

// Token is the right, and the duty, to settle one line. That of a line which
// nobody waits for is zero, and settling it does nothing, until Open gives it one
// that counts the line. A record has the zero token, too.
type Token struct {
	receipt *Receipt
	epoch   *Epoch // since parse has taken the line, or Open has
	line    uint32
}

// Counts reports whether somebody waits for the token.
func (t Token) Counts() bool { return t.receipt != nil && t.receipt.settled != nil }

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
	switch {
	case n <= 0:
	case t.receipt != nil:
		t.receipt.shares[t.line].Add(int32(n))
	case t.epoch != nil:
		t.epoch.open.Ended(-n)
	}
}

// Late marks a line that is given up because the drain is over. Its source is
// told nothing any more, so that it delivers the line again if it can; settling
// the token only says that something else has become of the line.
func (t Token) Late() {
	if t.receipt != nil {
		t.receipt.shares[t.line].Or(lateShare)
	}
}

// Undecoded notes, for whoever waits for the line, that it could not be decoded. The
// caller is the line's first holder, and settles it later.
func (t Token) Undecoded() {
	if t.receipt != nil {
		t.receipt.remarks.Add(1)
	}
}

// Settle gives the holder's share back. The last one settles the line.
func (t Token) Settle() {
	if t.receipt != nil || t.epoch != nil {
		t.settle()
	}
}

func (t Token) settle() {
	if r := t.receipt; r != nil {
		last, late := r.settle(t.line)
		if !last {
			return
		}
		if !late && r.settled != nil {
			if r.delivery != nil {
				r.delivery(t.line).Ended()
			}
			if t.epoch != nil {
				t.epoch.done()
			}
		}
	}
	if t.epoch != nil {
		t.epoch.open.Ended(1)
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
	e.tokens.Add(1)
	t.epoch = e
	if t.receipt.delivery != nil {
		t.receipt.delivery(t.line).Entered(e.number)
	}
	return t
}
