package correlation

import (
	"bufio"
	"encoding/binary"
	"io"
)

// SnapshotVersion is the version of what Encode writes.
const SnapshotVersion = 1

// The flags of a stored group.
const (
	flagHigh = 1 << iota
	flagLast
	flagTombstone
	flagSweep // still to be trimmed to the cutoff of its correlation
	flagFuture
	flagLastFuture // the arrival of its event stands behind the other times
	knownFlags
)

// Encode writes the view, one piece after another and never as a whole in
// memory. Only entries are written: every aggregate is a function of them, sums
// too, which are exact, so a restored group goes on to the same results.
//
// The form is: version, time of saving, stream clock, limits, key of hashes, number of correlations;
// for each its stable id, shape, members, event mode, cutoff and number of
// groups; and each group as a block with its length in front.
func (v *View) Encode(w io.Writer, savedAt int64) error {
	out := bufio.NewWriterSize(w, 64<<10)
	buf := binary.AppendUvarint(nil, SnapshotVersion)
	buf = binary.AppendVarint(buf, savedAt)
	buf = appendClock(buf, &v.clock)
	buf = binary.AppendUvarint(buf, uint64(v.limits.Groups))
	buf = binary.AppendUvarint(buf, uint64(v.limits.Bytes))
	buf = append(buf, v.secret[:]...)
	buf = binary.AppendUvarint(buf, uint64(len(v.states)))
	var block []byte
	for i := range v.states {
		st := &v.states[i]
		buf = st.appendHead(buf)
		if _, err := out.Write(buf); err != nil {
			return err
		}
		buf = buf[:0]
		for _, g := range st.groups {
			if g == nil {
				continue
			}
			block = st.appendGroup(block[:0], g)
			buf = binary.AppendUvarint(buf[:0], uint64(len(block)))
			if _, err := out.Write(buf); err != nil {
				return err
			}
			if _, err := out.Write(block); err != nil {
				return err
			}
			buf = buf[:0]
		}
	}
	if _, err := out.Write(buf); err != nil {
		return err
	}
	return out.Flush()
}

func appendClock(dst []byte, c *streamClock) []byte {
	dst = append(dst, flag(1, c.started), byte(c.ahead))
	dst = binary.AppendVarint(dst, c.value)
	return binary.AppendVarint(dst, c.at)
}

func flag(bit byte, on bool) byte {
	if on {
		return bit
	}
	return 0
}

func appendString[T string | []byte](dst []byte, s T) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func (st *stateView) appendHead(dst []byte) []byte {
	dst = appendString(dst, st.c.Stable)
	dst = appendString(dst, st.c.Shape)
	dst = binary.AppendUvarint(dst, uint64(len(st.c.Members)))
	for _, m := range st.c.Members {
		dst = appendString(dst, m)
	}
	dst = appendString(dst, string(st.c.Events))
	dst = binary.AppendVarint(dst, st.cutoff)
	return binary.AppendUvarint(dst, uint64(st.live+st.tombstones))
}

func (st *stateView) appendGroup(dst []byte, g *group) []byte {
	flags := flag(flagHigh, g.hasHigh) | flag(flagLast, g.hasLast) | flag(flagTombstone, g.tombstone) |
		flag(flagSweep, !g.tombstone && g.sweep != st.sweeps) | flag(flagFuture, g.future) | flag(flagLastFuture, g.lastFuture)
	dst = append(dst, flags, g.late)
	dst = appendString(dst, g.key)
	dst = binary.AppendVarint(dst, g.high)
	dst = binary.AppendVarint(dst, g.last)
	dst = binary.AppendVarint(dst, g.touched)
	dst = binary.AppendVarint(dst, g.alarm)
	if g.lastFuture {
		dst = binary.AppendVarint(dst, g.extra.arrival)
	}
	dst = binary.AppendUvarint(dst, uint64(len(g.buffer())))
	for _, s := range g.buffer() {
		dst = append(binary.AppendVarint(dst, s.ts), flag(1, s.hasID))
		dst = appendString(dst, s.data)
	}
	return g.window.Append(dst)
}
