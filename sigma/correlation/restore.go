package correlation

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/correlation/internal/match"
	"github.com/sluicehq/sluice/sigma/correlation/internal/program"
	"github.com/sluicehq/sluice/sigma/correlation/internal/window"
)

// ErrCorrupt is wrapped by errors about stored state that cannot be read.
var ErrCorrupt = errors.New("stored correlation state is not readable")

// VersionError says that stored state has a version that this package cannot read.
type VersionError struct{ Version uint64 }

func (e *VersionError) Error() string {
	return fmt.Sprintf("stored correlation state has version %d, not %d", e.Version, SnapshotVersion)
}

// Restored says what Restore has restored.
type Restored struct {
	SavedAt int64
	Groups  int
	Dropped []Dropped
	Evicted int // groups over the limits, not restored
}

// Restore reads what View.Encode wrote into an engine without state. After an
// error the engine is still empty.
func (e *Engine) Restore(r io.Reader, now int64) (Restored, error) {
	d := decoder{in: bufio.NewReaderSize(r, 64<<10)}
	// Until everything is read the stalest go only when twice as much is in memory as
	// may stay: of what is read after them much may be staler.
	fresh := New(e.program, Limits{math.MaxInt, min(e.limits.Bytes, math.MaxInt/2) * 2})
	var out Restored
	version := d.uvarint()
	if d.err == nil && version != SnapshotVersion {
		return out, &VersionError{version}
	}
	out.SavedAt = d.varint()
	fresh.clock = streamClock{started: d.byte() == 1, ahead: int(d.byte()), value: d.varint(), at: d.varint()}
	limits := Limits{Groups: int(d.uvarint()), Bytes: int(d.uvarint())}
	for i := range fresh.secret {
		fresh.secret[i] = d.byte()
	}
	owners := e.program.Owners()
	seen := make(map[string]bool)
	for n := d.uvarint(); n > 0 && d.err == nil; n-- {
		fresh.restoreState(&d, owners, seen, now, &out)
	}
	if d.err != nil {
		return Restored{}, fmt.Errorf("%w: %w", ErrCorrupt, d.err)
	}
	fresh.limits = e.limits
	// What was over its limits when it was saved is so until the next event.
	if limits != fresh.limits && (fresh.live > fresh.limits.Groups || fresh.bytes > fresh.limits.Bytes) {
		fresh.cut(now, &out)
	}
	out.Groups = fresh.live
	fresh.revision, fresh.exports = e.revision+1, e.exports
	*e = *fresh
	return out, nil
}

// cut removes the stalest groups over the limits.
func (e *Engine) cut(now int64, out *Restored) {
	var o Outcome
	e.makeRoom(now, &o)
	out.Evicted += o.Evicted
}

// head is what stands before the groups of a correlation.
type head struct {
	stable, shape string
	members       []string
	events        program.EventMode
	cutoff        int64
	groups        uint64
}

func (d *decoder) head() head {
	h := head{stable: d.string(), shape: d.string()}
	for n := d.uvarint(); n > 0 && d.err == nil; n-- {
		h.members = append(h.members, d.string())
	}
	h.events = program.EventMode(d.string())
	h.cutoff = d.varint()
	h.groups = d.uvarint()
	return h
}

func (e *Engine) restoreState(d *decoder, owners map[string]int, seen map[string]bool, now int64, out *Restored) {
	h := d.head()
	var st *correlationState
	reason := Removed
	if i, ok := owners[h.stable]; ok {
		switch {
		case seen[h.stable]:
			reason = SharedID
		case e.program.At(i).Shape != h.shape:
			reason = ShapeChanged
		default:
			st = e.states[i]
		}
	}
	if st != nil {
		st.sweeps, st.cutoff = restoredSweeps, h.cutoff
	}
	seen[h.stable] = true
	dropped := 0
	for n := h.groups; n > 0 && d.err == nil; n-- {
		block := d.block()
		if d.err != nil {
			return
		}
		if st == nil {
			if len(block) > 0 && block[0]&flagTombstone == 0 {
				dropped++
			}
			continue
		}
		g, err := readGroup(st.c, block, &h)
		if err != nil {
			d.err = err
			return
		}
		e.enter(st, g)
		if e.full() {
			e.cut(now, out)
		}
	}
	if dropped > 0 {
		out.Dropped = append(out.Dropped, Dropped{h.stable, reason, dropped})
	}
}

// restoredSweeps is the number of sweeps after a restore: a group has that one behind
// it, or none.
const restoredSweeps = 1

// enter adds a restored group. Of groups with one key, which Encode never writes,
// the first one stays.
func (e *Engine) enter(st *correlationState, g *group) {
	hash := match.HashString(g.key)
	if _, found := st.find(hash, []byte(g.key)); found != nil {
		return
	}
	slot := st.put(g, hash)
	g.bytes = g.weight()
	e.bytes += g.bytes
	if g.tombstone {
		g.window = st.empty
		e.buried += g.bytes
	} else {
		e.live++
	}
	e.setAlarm(st, slot, g, g.alarm)
}

// readGroup reads one group of a correlation with the shape of c.
func readGroup(c *program.Correlation, block []byte, h *head) (*group, error) {
	d := decoder{rest: block, whole: true}
	flags := d.byte()
	g := new(group)
	g.late, g.key = d.byte(), d.string()
	g.high, g.last, g.touched, g.alarm = d.varint(), d.varint(), d.varint(), d.varint()
	g.hasHigh, g.hasLast, g.tombstone = flags&flagHigh != 0, flags&flagLast != 0, flags&flagTombstone != 0
	g.future, g.lastFuture = flags&flagFuture != 0, flags&flagLastFuture != 0
	if g.lastFuture {
		g.more().arrival = d.varint()
	}
	for n := d.uvarint(); n > 0 && d.err == nil; n-- {
		s := stored{ts: d.varint(), hasID: d.byte() == 1, data: bytes.Clone(d.block())}
		if h.events == c.Events {
			g.more().buffer = append(g.more().buffer, s)
		}
	}
	if d.err == nil && (flags >= knownFlags || !match.ValidKey(g.key, len(c.Source.GroupBy))) {
		d.err = errors.New("bad group")
	}
	if d.err != nil {
		return nil, d.err
	}
	w, rest, err := readWindow(c, d.rest, h.members)
	if err != nil {
		return nil, err
	}
	if len(rest) > 0 || g.tombstone && w.Len() > 0 || (w.Len() > 0 || g.future) && !g.hasHigh {
		return nil, errors.New("bad group")
	}
	g.window, g.low = w, unknown
	if flags&flagSweep == 0 {
		g.sweep = restoredSweeps
	}
	return g, nil
}

func readWindow(c *program.Correlation, buf []byte, members []string) (window.Window, []byte, error) {
	switch t := c.Source.Type; {
	case t.Temporal():
		w, rest, err := window.ReadHits(buf)
		if err != nil {
			return nil, nil, err
		}
		if w.Members() != len(members) {
			return nil, nil, window.ErrCorrupt
		}
		return w.Pick(memberMap(members, c.Members)), rest, nil
	case t == ast.ValueCount:
		return orNil(window.ReadDistinct(buf))
	case t.Numeric():
		return orNil(window.ReadNumbers(buf, c.Ranked()))
	}
	return orNil(window.ReadCounts(buf))
}

func orNil[W window.Window](w W, rest []byte, err error) (window.Window, []byte, error) {
	if err != nil {
		return nil, nil, err
	}
	return w, rest, nil
}

// decoder reads numbers and blocks, from rest when whole, else from in. After
// the first error it gives zeros.
type decoder struct {
	in    *bufio.Reader
	rest  []byte
	whole bool
	buf   bytes.Buffer
	err   error
}

// ReadByte makes a decoder an io.ByteReader.
func (d *decoder) ReadByte() (byte, error) {
	if !d.whole {
		return d.in.ReadByte()
	}
	if len(d.rest) == 0 {
		return 0, io.ErrUnexpectedEOF
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b, nil
}

func (d *decoder) byte() byte {
	if d.err != nil {
		return 0
	}
	b, err := d.ReadByte()
	d.fail(err)
	return b
}

func (d *decoder) uvarint() uint64 {
	if d.err != nil {
		return 0
	}
	v, err := binary.ReadUvarint(d)
	d.fail(err)
	return v
}

func (d *decoder) varint() int64 {
	if d.err != nil {
		return 0
	}
	v, err := binary.ReadVarint(d)
	d.fail(err)
	return v
}

// block reads a length and so many bytes, valid until the next block.
func (d *decoder) block() []byte {
	n := d.uvarint()
	if d.err != nil {
		return nil
	}
	if d.whole {
		if n > uint64(len(d.rest)) {
			d.err = io.ErrUnexpectedEOF
			return nil
		}
		b := d.rest[:n]
		d.rest = d.rest[n:]
		return b
	}
	if n > 1<<40 {
		d.err = errors.New("block is too long")
		return nil
	}
	d.buf.Reset()
	_, err := io.CopyN(&d.buf, d.in, int64(n)) // grows with what is there, not with what is claimed
	d.fail(err)
	return d.buf.Bytes()
}

func (d *decoder) string() string { return string(d.block()) }

func (d *decoder) fail(err error) {
	if d.err == nil && err != nil {
		d.err = err
		if errors.Is(err, io.EOF) {
			d.err = io.ErrUnexpectedEOF
		}
	}
}
