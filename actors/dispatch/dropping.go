package dispatch

import "github.com/sluicehq/sluice/graph"

// dropping is the outlet to a sink that drops sets when it is full. It takes everything.
type dropping struct {
	to      Queue
	dropped func()

	lost graph.DeliveryID // of a set that was dropped, with the pieces of it that follow
	one  [1]*graph.Bundle // memory of what is put
}

// TryPut puts what the sink has room for, and drops the other sets one by one.
func (d *dropping) TryPut(run []*graph.Bundle) int {
	for _, b := range run {
		d.bundle(b)
	}
	return len(run)
}

// Park is never called, as TryPut leaves nothing.
func (d *dropping) Park(_ []*graph.Bundle, admitted func()) func() []*graph.Bundle {
	admitted()
	return func() []*graph.Bundle { return nil }
}

func (d *dropping) bundle(b *graph.Bundle) {
	if !d.rest(&b.Sets[0]) && d.fitting(b.Sets) == len(b.Sets) && d.put(b) {
		return
	}
	for from := 0; from < len(b.Sets); {
		if n := d.some(b, from); n > 0 {
			from += n
			continue
		}
		if set := &b.Sets[from]; !d.rest(set) { // what is left of a set counts once
			d.lost = set.Messages[0].ID
			d.dropped()
		}
		b.Ended(from, from+1)
		from++
	}
	b.Release()
}

// some puts sets from one on, as many as fit, and returns how many those were.
func (d *dropping) some(b *graph.Bundle, from int) int {
	if d.rest(&b.Sets[from]) {
		return 0
	}
	for n := d.fitting(b.Sets[from:]); n > 0; n /= 2 { // at once, unless the lane was made smaller meanwhile
		part := b.Part(from, from+n)
		if d.put(part) {
			return n
		}
		part.Release()
	}
	return 0
}

// rest reports whether a piece belongs to the set that was dropped last.
func (d *dropping) rest(piece *graph.Rendered) bool {
	return piece.First > 0 && piece.Messages[0].ID == d.lost
}

// fitting is how many sets the sink has room for. One may be larger than the queue, which
// takes it when it is empty.
func (d *dropping) fitting(sets []graph.Rendered) (n int) {
	units, bytes := d.to.Available()
	for n < min(len(sets), units) && sets[n].Bytes <= bytes {
		bytes -= sets[n].Bytes
		n++
	}
	return max(n, 1)
}

func (d *dropping) put(b *graph.Bundle) bool {
	d.one[0] = b
	n := d.to.TryPut(d.one[:])
	d.one[0] = nil
	return n == 1
}
