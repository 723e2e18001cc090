package evtx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sources"
)

// ErrHeader is wrapped by the error of Open for what is no file of the event log.
var ErrHeader = errors.New("not a file of Windows event records")

// Reader reads the records of a file. Each text is a record as one JSON value.
//
// It is not safe for concurrent use, but for Offset.
type Reader struct {
	// Bad is told of each record that cannot be read, with its number, and returns whether to
	// go on. Nil goes on.
	Bad func(number int, fault error) bool

	src     io.ReaderAt
	chunks  int64 // of the file; the last one may be incomplete
	first   int64 // chunk to begin with: the one with the oldest records
	chunk   int64 // how many have been read
	size    int64
	read    atomic.Int64
	records records
	number  int // of the last record
	content *content
	bytes   []byte             // of the chunk
	idle    chan *graph.Buffer // memory of runs that nobody needs any more
}

// Open reads the head of a file of the given size, and where its oldest records are.
func Open(src io.ReaderAt, size int64) (*Reader, error) {
	head := make([]byte, 128)
	if size < headSize {
		return nil, fmt.Errorf("%w: it has %d bytes, fewer than its head", ErrHeader, size)
	}
	if _, err := src.ReadAt(head, 0); err != nil {
		return nil, err
	}
	if string(head[:len(fileMagic)]) != fileMagic {
		return nil, fmt.Errorf("%w: it does not begin with ElfFile", ErrHeader)
	}
	if major, minor := binary.LittleEndian.Uint16(head[38:]), binary.LittleEndian.Uint16(head[36:]); major != 3 {
		return nil, fmt.Errorf("%w of a known version: it has version %d.%d, known is 3", ErrHeader, major, minor)
	}
	r := &Reader{
		src: src, size: size, chunks: (size - headSize + chunkSize - 1) / chunkSize,
		content: newContent(), bytes: make([]byte, chunkSize), idle: make(chan *graph.Buffer, maxIdle),
	}
	return r, r.findOldest()
}

// findOldest looks for the chunk with the oldest records. A log that is full begins anew at
// the first chunk.
func (r *Reader) findOldest() error {
	var head [32]byte
	oldest := uint64(0)
	for i := range r.chunks {
		at := headSize + i*chunkSize
		if r.size-at < int64(len(head)) {
			break
		}
		if _, err := r.src.ReadAt(head[:], at); err != nil {
			return err
		}
		id := binary.LittleEndian.Uint64(head[24:])
		if string(head[:len(chunkMagic)]) == chunkMagic && id > 0 && (oldest == 0 || id < oldest) {
			oldest, r.first = id, i
		}
	}
	return nil
}

// CountLines does nothing: records are always numbered.
func (r *Reader) CountLines() {}

// Records returns how many records there have been, those that cannot be read among them.
func (r *Reader) Records() int { return r.number }

// Offset returns how many bytes of the file have been read.
func (r *Reader) Offset() int64 { return r.read.Load() }

// maxIdle is how many runs' memory is kept for later ones.
const maxIdle = 8

// runSize is how many bytes of JSON a run has, about.
const runSize = 128 << 10

// Next implements sources.Reader. The line of a text is the number of its record, from 1.
func (r *Reader) Next(dst []sources.Text) ([]sources.Text, error) {
	lent := r.lend()
	defer lent.Release(1)
	from := len(dst)
	for len(dst) == from {
		if r.records.next >= r.records.end && !r.records.cut {
			if r.chunk == r.chunks {
				return dst, io.EOF
			}
			if err := r.load(); err != nil {
				return dst, err
			}
		}
		var err error
		if dst, err = r.render(dst, lent); err != nil {
			return dst[:from], err
		}
	}
	r.share(dst[from:], lent)
	return dst, nil
}

// lend returns memory for a run, with a share for the caller.
func (r *Reader) lend() *graph.Buffer {
	select {
	case b := <-r.idle:
		b.Retain(1)
		b.Bytes = b.Bytes[:0]
		return b
	default:
	}
	return graph.NewBuffer(make([]byte, 0, runSize+runSize/2), func(b *graph.Buffer) {
		select {
		case r.idle <- b:
		default:
		}
	})
}

// load reads the next chunk.
func (r *Reader) load() error {
	at := headSize + (r.first+r.chunk)%r.chunks*chunkSize
	r.chunk++
	bytes := r.bytes[:min(chunkSize, r.size-at)]
	if _, err := r.src.ReadAt(bytes, at); err != nil {
		return fmt.Errorf("read the chunk at byte %d: %w", at, err)
	}
	r.read.Add(int64(len(bytes)))
	r.content.begin(bytes)
	var err error
	if r.records, err = newRecords(bytes); err != nil {
		return r.bad(err)
	}
	return nil
}

// ErrStopped is the error of Next when Bad said so.
var ErrStopped = errors.New("stopped at a record that cannot be read")

// bad counts and tells a record that cannot be read.
func (r *Reader) bad(fault error) error {
	r.number++
	if r.Bad != nil && !r.Bad(r.number, fault) {
		return ErrStopped
	}
	return nil
}

// render appends the records of the chunk that a run has room for. Their texts are cut when
// all have been written.
func (r *Reader) render(dst []sources.Text, lent *graph.Buffer) ([]sources.Text, error) {
	for len(lent.Bytes) < runSize {
		rec, ok, err := r.records.more()
		if !ok {
			break
		}
		from := len(lent.Bytes)
		if err == nil {
			lent.Bytes, err = r.content.appendRecord(lent.Bytes, rec.at, rec.end)
		}
		if err != nil {
			if err := r.bad(err); err != nil {
				return dst, err
			}
			continue
		}
		r.number++
		dst = append(dst, sources.Text{Held: len(lent.Bytes) - from, Value: true, Line: r.number})
	}
	return dst, nil
}

// share cuts the texts of a run out of the memory that they lie in, and gives each a share of
// it.
func (r *Reader) share(run []sources.Text, lent *graph.Buffer) {
	lent.Retain(len(run))
	at := 0
	for i := range run {
		size := run[i].Held
		run[i].Bytes, run[i].Buffer = lent.Bytes[at:at+size:at+size], lent
		run[i].Held = cap(lent.Bytes) / len(run)
		at += size
	}
}

// Close implements sources.Reader.
func (r *Reader) Close() { r.records, r.chunk = records{}, r.chunks }
