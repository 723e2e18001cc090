package evtx

import (
	"errors"
	"io"
	"runtime"
	"testing"

	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/evtx/evtxtest"
)

// endless is a file whose first chunk comes again and again.
type endless []byte

func (e endless) ReadAt(b []byte, at int64) (int, error) {
	if at < headSize {
		return copy(b, e[at:headSize]), nil
	}
	for n := 0; n < len(b); {
		n += copy(b[n:], e[headSize+(at-headSize+int64(n))%chunkSize:])
	}
	return len(b), nil
}

// A log of any size takes the memory of its runs, as long as these are given back.
func TestALargeLogTakesTheMemoryOfASmallOne(t *testing.T) {
	l, templates := evtxtest.New(), make(evtxtest.Templates)
	for i := range 30 {
		templates.Add(l, logon(i))
	}
	const chunks = 200
	r, err := Open(endless(l.Bytes()), headSize+chunks*chunkSize)
	if err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var run []sources.Text
	for err == nil {
		run, err = r.Next(run[:0])
		for i := range run {
			run[i].Buffer.Release(1)
		}
	}
	runtime.ReadMemStats(&after)
	if !errors.Is(err, io.EOF) || r.Records() != 30*chunks || r.Offset() != chunks*chunkSize {
		t.Fatalf("read %d records of %d bytes: %v", r.Records(), r.Offset(), err)
	}
	if made := after.TotalAlloc - before.TotalAlloc; made > 4<<20 {
		t.Errorf("%d bytes were allocated for a log of %d", made, chunks*chunkSize)
	}
}

// Memory is used again only when nobody needs it any more.
func TestTextsKeepTheirMemory(t *testing.T) {
	l, templates := evtxtest.New(), make(evtxtest.Templates)
	for i := range 30 {
		templates.Add(l, logon(i))
	}
	r, err := Open(endless(l.Bytes()), headSize+20*chunkSize)
	if err != nil {
		t.Fatal(err)
	}
	var kept []sources.Text
	for err == nil {
		kept, err = r.Next(kept)
	}
	want := string(kept[0].Bytes)
	for i := 0; i < len(kept); i += 30 {
		if string(kept[i].Bytes) != want {
			t.Fatalf("record %d was overwritten: %s", i, kept[i].Bytes)
		}
	}
}
