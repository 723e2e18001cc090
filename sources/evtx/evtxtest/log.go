package evtxtest

import (
	"encoding/binary"
	"hash/crc32"
	"time"
)

// The layout of a file.
const (
	HeadSize   = 4096
	ChunkSize  = 64 << 10
	ChunkHead  = 512
	RecordHead = 24
)

// Log is a file that records are written to.
type Log struct {
	chunks []*writer
	ids    [][2]uint64 // of the first and the last record of a chunk
	next   uint64
}

// New returns a log whose first record has the identifier 1.
func New() *Log { return &Log{next: 1} }

// Continue returns a log whose first record has that identifier.
func Continue(id uint64) *Log { return &Log{next: id} }

// Add writes a record: a template with values. A template stands in each chunk once.
func (l *Log) Add(t time.Time, template *Element, values ...Value) {
	l.AddContent(t, Instance{template, values})
}

// AddContent writes a record with that content.
func (l *Log) AddContent(t time.Time, content ...Node) {
	if len(l.chunks) == 0 || !l.write(t, content) {
		l.Chunk()
		if !l.write(t, content) {
			panic("evtxtest: the record is larger than a chunk")
		}
	}
	last := len(l.chunks) - 1
	if l.ids[last][0] == 0 {
		l.ids[last][0] = l.next
	}
	l.ids[last][1] = l.next
	l.next++
}

// Chunk begins a chunk.
func (l *Log) Chunk() {
	l.chunks = append(l.chunks, newWriter())
	l.ids = append(l.ids, [2]uint64{})
}

// write writes a record at the end of the last chunk, if there is room.
func (l *Log) write(t time.Time, content []Node) bool {
	w := l.chunks[len(l.chunks)-1]
	before := w.mark()
	at := len(w.bytes)
	w.raw([]byte("**\x00\x00"))
	w.u32(0)
	w.raw(binary.LittleEndian.AppendUint64(nil, l.next))
	w.raw(binary.LittleEndian.AppendUint64(nil, ticks(t)))
	w.fragment(content)
	for len(w.bytes)%8 != 4 {
		w.u8(0)
	}
	size := uint32(len(w.bytes) - at + 4)
	w.u32(size)
	binary.LittleEndian.PutUint32(w.bytes[at+4:], size)
	if len(w.bytes) > ChunkSize {
		w.back(before)
		return false
	}
	w.lastRecord = at
	return true
}

// Bytes returns the file.
func (l *Log) Bytes() []byte {
	le := binary.LittleEndian
	head := make([]byte, HeadSize)
	copy(head, "ElfFile\x00")
	le.PutUint64(head[16:], uint64(max(0, len(l.chunks)-1)))
	le.PutUint64(head[24:], l.next)
	le.PutUint32(head[32:], 128)
	le.PutUint16(head[36:], 1)
	le.PutUint16(head[38:], 3)
	le.PutUint16(head[40:], HeadSize)
	le.PutUint16(head[42:], uint16(len(l.chunks)))
	le.PutUint32(head[124:], crc32.ChecksumIEEE(head[:120]))
	for i, w := range l.chunks {
		chunk := make([]byte, ChunkSize)
		copy(chunk, w.bytes)
		copy(chunk, "ElfChnk\x00")
		for j, n := range []uint64{l.ids[i][0], l.ids[i][1], l.ids[i][0], l.ids[i][1]} {
			le.PutUint64(chunk[8+8*j:], n)
		}
		le.PutUint32(chunk[40:], 128)
		le.PutUint32(chunk[44:], uint32(w.lastRecord))
		le.PutUint32(chunk[48:], uint32(len(w.bytes)))
		Seal(chunk)
		head = append(head, chunk...)
	}
	return head
}

// Seal gives a chunk the checksums of what it holds.
func Seal(chunk []byte) {
	le := binary.LittleEndian
	end := min(max(le.Uint32(chunk[48:]), ChunkHead), ChunkSize)
	le.PutUint32(chunk[52:], crc32.ChecksumIEEE(chunk[ChunkHead:end]))
	sum := crc32.ChecksumIEEE(chunk[:120])
	le.PutUint32(chunk[124:], crc32.Update(sum, crc32.IEEETable, chunk[128:ChunkHead]))
}

// Records returns where the records of the first chunk begin in the file.
func Records(file []byte) []int {
	var out []int
	for at := HeadSize + ChunkHead; at+RecordHead <= len(file) && string(file[at:at+2]) == "**"; {
		out = append(out, at)
		at += int(binary.LittleEndian.Uint32(file[at+4:]))
	}
	return out
}
