package evtx

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"testing"

	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/evtx/evtxtest"
)

// seeds are the records of the tables, whose bytes are small: the room behind them is cut off.
func seeds() [][]byte {
	var out [][]byte
	add := func(l *evtxtest.Log) {
		chunk := chunkOf(l.Bytes())
		out = append(out, chunk[evtxtest.ChunkHead:binary.LittleEndian.Uint32(chunk[48:])])
	}
	all := evtxtest.New()
	for _, s := range shapes {
		l := evtxtest.New()
		l.Add(when, &s.record, s.values...)
		l.Add(when, &s.record, s.values...)
		add(l)
		all.Add(when, &s.record, s.values...)
	}
	add(all)
	l, templates := evtxtest.New(), make(evtxtest.Templates)
	for i := range 5 {
		templates.Add(l, logon(i))
	}
	add(l)
	return out
}

// Whatever the records of a chunk hold, reading them ends, and what comes out is JSON within
// the bounds.
func FuzzRecords(f *testing.F) {
	for _, seed := range seeds() {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, records []byte) {
		file := numbered(0)
		chunk := make([]byte, chunkSize)
		copy(chunk, chunkMagic)
		n := copy(chunk[chunkHead:], records)
		binary.LittleEndian.PutUint32(chunk[48:], uint32(chunkHead+n))
		check(t, append(file, chunk...))
	})
}

// compact is a file of one chunk without the rooms in it: the head, the head of the chunk and
// the records.
func compact(file []byte) []byte {
	end := binary.LittleEndian.Uint32(chunkOf(file)[48:])
	return append(bytes.Clone(file[:fuzzHead]), chunkOf(file)[:end]...)
}

// fuzzHead is how much of the head of a file says something.
const fuzzHead = 128

// The same for a whole file, which ends somewhere in its first or its second chunk. Its first
// bytes are made those of a log, so that the rest is looked at.
func FuzzFile(f *testing.F) {
	f.Add(compact(numbered(3)), uint32(chunkSize), false)
	f.Add(compact(numbered(3)), uint32(700), true)
	f.Add(compact(example()), uint32(chunkSize), true)
	f.Fuzz(func(t *testing.T, b []byte, length uint32, twice bool) {
		if len(b) < fuzzHead {
			return
		}
		file := make([]byte, headSize, headSize+2*chunkSize)
		copy(file, b[:fuzzHead])
		copy(file, fileMagic)
		binary.LittleEndian.PutUint16(file[38:], 3)
		chunk := make([]byte, chunkSize)
		copy(chunk, b[fuzzHead:])
		if twice {
			file = append(file, chunk...)
		}
		check(t, append(file, chunk[:min(length, chunkSize)]...))
	})
}

// check reads a file twice, with the same outcome.
func check(t *testing.T, file []byte) {
	t.Helper()
	lines, faults := readAll(t, file)
	size := 0
	for _, line := range lines {
		size += len(line)
		if len(line) > sources.MaxLine {
			t.Errorf("a record of %d bytes", len(line))
		}
		if !json.Valid([]byte(line)) {
			t.Errorf("not JSON: %q", line)
		}
	}
	if chunks := (len(file) + chunkSize) / chunkSize; size > chunks*chunkOutput {
		t.Errorf("%d bytes of %d chunks", size, chunks)
	}
	for i, fault := range faults {
		if i > 0 && fault.number <= faults[i-1].number {
			t.Errorf("record %d is told behind %d", fault.number, faults[i-1].number)
		}
	}
	again, _ := readAll(t, bytes.Clone(file))
	if len(again) != len(lines) {
		t.Errorf("%d records, then %d", len(lines), len(again))
	}
}
