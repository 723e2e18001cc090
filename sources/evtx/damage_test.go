package evtx

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sources/evtx/evtxtest"
)

// chunkOf is the first chunk of a file.
func chunkOf(file []byte) []byte {
	return file[evtxtest.HeadSize : evtxtest.HeadSize+evtxtest.ChunkSize]
}

func TestFilesThatAreNoEventLog(t *testing.T) {
	good := numbered(1)
	for _, tc := range []struct {
		name string
		file []byte
		want string
	}{
		{"an empty file", nil, "it has 0 bytes, fewer than its head"},
		{"a head that breaks off", good[:4095], "it has 4095 bytes, fewer than its head"},
		{"text", bytes.Repeat([]byte("{}\n"), 2000), "it does not begin with ElfFile"},
		{"the event log of old systems", append([]byte("\x30\x00\x00\x00LfLe"), make([]byte, 5000)...), "it does not begin with ElfFile"},
		{"a version that is not known", slices.Concat(good[:38], []byte{4}, good[39:]), "of a known version: it has version 4.1, known is 3"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := Open(bytes.NewReader(tc.file), int64(len(tc.file)))
			if !errors.Is(err, ErrHeader) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %s", err, tc.want)
			}
		})
	}
}

// A file is ten records over one chunk, and the damage that is done to it.
func TestDamageCostsAsFewRecordsAsItCan(t *testing.T) {
	le := binary.LittleEndian
	for _, tc := range []struct {
		name   string
		damage func(file []byte, records []int) []byte
		lost   []int // numbers of the elements that are not read
		fault  string
	}{
		{"none", func(f []byte, _ []int) []byte { return f }, nil, ""},
		{"checksums that are wrong", func(f []byte, _ []int) []byte {
			le.PutUint32(f[124:], 1)
			le.PutUint32(chunkOf(f)[52:], 1)
			le.PutUint32(chunkOf(f)[124:], 1)
			return f
		}, nil, ""},
		{"a length that is too small", func(f []byte, r []int) []byte { le.PutUint32(f[r[3]+4:], 27); return f }, []int{4}, "4: its length of 27 is too small"},
		{"lengths of several records", func(f []byte, r []int) []byte {
			for _, at := range r[2:6] {
				le.PutUint32(f[at+4:], 1)
			}
			return f
		}, []int{3, 4, 5, 6}, "3: its length of 1 is too small"},
		{"a length that leads out of the chunk", func(f []byte, r []int) []byte { le.PutUint32(f[r[3]+4:], 1<<31); return f }, []int{4}, "4: its length of 2147483648 leads out of its chunk"},
		{"a length that is too long by a record", func(f []byte, r []int) []byte { le.PutUint32(f[r[3]+4:], uint32(r[5]-r[3])); return f }, []int{5}, ""},
		{"a length that leads into the next record", func(f []byte, r []int) []byte { le.PutUint32(f[r[3]+4:], uint32(r[4]-r[3]+16)); return f }, nil, ""},
		{"a length that ends inside the record", func(f []byte, r []int) []byte { le.PutUint32(f[r[3]+4:], uint32(r[4]-r[3]-8)); return f }, []int{4}, "4: its content ends too early"},
		{"a record that does not begin like one", func(f []byte, r []int) []byte { f[r[3]] = '+'; return f }, []int{4}, "4: it does not begin like one"},
		{"the second copy of a length", func(f []byte, r []int) []byte { le.PutUint32(f[r[4]-4:], 7); return f }, nil, ""},
		{"a piece of unknown type", func(f []byte, r []int) []byte { f[r[3]+24] = 0x3f; return f }, []int{4}, "4: it has a piece of unknown type 0x3f"},
		{"a template that is not there", func(f []byte, r []int) []byte { le.PutUint32(f[r[3]+24+4+6:], 65530); return f }, []int{4}, "4: it refers to a template at byte 65530 of the chunk, which is not there"},
		{"more values than there is room for", func(f []byte, r []int) []byte { le.PutUint32(f[r[3]+24+4+10:], 1<<31); return f }, []int{4}, "4: its content ends too early"},
		{"a name that is not there", func(f []byte, r []int) []byte {
			i := bytes.Index(f[r[0]:], []byte{0x01, 0xff, 0xff}) // the first element of the template
			le.PutUint32(f[r[0]+i+7:], 65535)
			return f
		}, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "1: it refers to a name at byte 65535 of the chunk, which is not there"},
		{"the end of the records is too far", func(f []byte, _ []int) []byte { le.PutUint32(chunkOf(f)[48:], 1<<30); return f }, nil, ""},
		{"the end of the records is too near", func(f []byte, r []int) []byte {
			le.PutUint32(chunkOf(f)[48:], uint32(r[3]-evtxtest.HeadSize))
			return f
		}, []int{4, 5, 6, 7, 8, 9, 10}, ""},
		{"a chunk that does not begin like one", func(f []byte, _ []int) []byte { f[evtxtest.HeadSize] = 'X'; return f }, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "1: its chunk does not begin like one"},
		{"a file that ends inside a record", func(f []byte, r []int) []byte { return f[:r[7]+30] }, []int{8, 9, 10}, "8: the file ends inside it"},
		{"a file that ends inside the head of a record", func(f []byte, r []int) []byte { return f[:r[7]+3] }, []int{8, 9, 10}, "8: the file ends inside it"},
		{"a file that ends between two records", func(f []byte, r []int) []byte { return f[:r[7]] }, []int{8, 9, 10}, "8: the file ends inside its chunk"},
		{"a file that ends inside the head of a chunk", func(f []byte, _ []int) []byte { return f[:evtxtest.HeadSize+100] }, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, "1: the file ends inside the head of its chunk"},
		{"zeros behind the last chunk", func(f []byte, _ []int) []byte { return append(f, make([]byte, 100_000)...) }, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			file := numbered(10)
			lines, faults := readAll(t, tc.damage(file, evtxtest.Records(file)))
			var want []string
			for n := 1; n <= 10; n++ {
				if !slices.Contains(tc.lost, n) {
					want = append(want, fmt.Sprintf(`{"Event":{"Number":%d}}`, n))
				}
			}
			if !slices.Equal(lines, want) {
				t.Errorf("got %v\nwant %v\nfaults %v", lines, want, faults)
			}
			told := ""
			if len(faults) > 0 {
				told = fmt.Sprintf("%d: %s", faults[0].number, faults[0].text)
			}
			if !strings.Contains(told, tc.fault) || (tc.fault == "") != (told == "") {
				t.Errorf("told %q, want %q", told, tc.fault)
			}
		})
	}
}

// Records that are made to do damage end soon and take little.
func TestRecordsAreBounded(t *testing.T) {
	deep := evtxtest.El("D")
	for range maxDepth {
		deep = evtxtest.El("D", deep)
	}
	var loop evtxtest.Element
	loop = evtxtest.El("Event", evtxtest.Put(&loop))
	doubling := evtxtest.El("Event", evtxtest.Sub{}, evtxtest.Sub{})
	fragment := evtxtest.String("x")
	for range 30 {
		fragment = evtxtest.Fragment(evtxtest.Put(&doubling, fragment))
	}
	long := evtxtest.El("Event")
	for range 100 {
		long.Children = append(long.Children, evtxtest.Sub{})
	}
	names := evtxtest.El("Event")
	for range 1000 {
		names.Children = append(names.Children, evtxtest.El(strings.Repeat("n", 5000)))
	}
	keys := evtxtest.El("EventData")
	for i := range 200 {
		keys.Children = append(keys.Children, evtxtest.El("Data", evtxtest.Text("v")).With("Name", evtxtest.Sub{}, evtxtest.Text(fmt.Sprint(i))))
	}
	keys = evtxtest.El("Event", keys)
	attributes := evtxtest.El("Event")
	for range 1000 {
		attributes = attributes.With(strings.Repeat("n", 5000), evtxtest.Text("v"))
	}
	for _, tc := range []struct {
		name    string
		content evtxtest.Node
		want    error
	}{
		{"elements in each other", deep, errDepth},
		{"a template that has itself in it", evtxtest.Put(&loop), errDepth},
		{"a fragment that doubles with each level", evtxtest.Put(&doubling, fragment), errWork},
		{"a list that repeats an element too often", evtxtest.Put(&evtxtest.Element{Name: "Event", Children: []evtxtest.Node{evtxtest.El("X", evtxtest.Sub{}), evtxtest.El("Y", evtxtest.Sub{}), evtxtest.El("Z", evtxtest.Sub{})}}, evtxtest.Strings(make([]string, 30_000)...)), errWork},
		{"a long value that is put in many times", evtxtest.Put(&long, evtxtest.String(strings.Repeat("x", 30_000))), errSize},
		{"a long name that many elements have", names, errSize},
		{"a long name that many attributes have", attributes, errSize},
		{"a long value that is the key of many", evtxtest.Put(&keys, evtxtest.String(strings.Repeat("k", 20_000))), errSize},
		{"nothing at all", evtxtest.Text(""), errRoot},
	} {
		t.Run(tc.name, func(t *testing.T) {
			lines, faults := readAll(t, one(tc.content))
			if len(lines) != 0 || len(faults) != 1 || faults[0].text != tc.want.Error() {
				t.Errorf("got %d records, faults %v, want %v", len(lines), faults, tc.want)
			}
		})
	}
}

// The records of a chunk that are each within the bounds are not many times that together.
func TestChunksAreBounded(t *testing.T) {
	wide := evtxtest.El("Event")
	for range 1400 {
		wide.Children = append(wide.Children, evtxtest.El("X", evtxtest.Sub{}))
	}
	big := evtxtest.El("Event")
	for range 40 {
		big.Children = append(big.Children, evtxtest.El("X", evtxtest.Text(strings.Repeat("\x01", 100)), evtxtest.Sub{}))
	}
	for _, tc := range []struct {
		name     string
		template evtxtest.Element
		value    evtxtest.Value
		records  int
		want     error
	}{
		{"pieces", wide, evtxtest.Strings(make([]string, 20)...), 60, errChunk},
		{"bytes", big, evtxtest.String(strings.Repeat("\x02", 300)), 80, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			l := evtxtest.New()
			for range tc.records {
				l.Add(when, &tc.template, tc.value)
			}
			lines, faults := readAll(t, l.Bytes())
			size := 0
			for _, line := range lines {
				size += len(line)
			}
			if size > chunkOutput*len(l.Bytes())/chunkSize {
				t.Errorf("%d bytes", size)
			}
			if tc.want != nil && (len(faults) == 0 || faults[len(faults)-1].text != tc.want.Error()) {
				t.Errorf("got %d records, faults %v", len(lines), faults)
			}
		})
	}
}

// A log that is full begins anew at its first chunk.
func TestALogThatHasWrappedAroundBeginsWithItsOldestRecords(t *testing.T) {
	template := evtxtest.El("Event", evtxtest.El("Number", evtxtest.Sub{}))
	chunks := func(from uint64, n int) []byte {
		l := evtxtest.Continue(from)
		for i := range n {
			if i%10 == 0 {
				l.Chunk()
			}
			l.Add(when, &template, evtxtest.Uint64(from+uint64(i)))
		}
		return l.Bytes()
	}
	newer, older := chunks(121, 20), chunks(101, 20)
	lines, faults := readAll(t, slices.Concat(newer, older[evtxtest.HeadSize:]))
	if len(lines) != 40 || len(faults) > 0 {
		t.Fatalf("%d records, faults %v", len(lines), faults)
	}
	for i, line := range lines {
		if want := fmt.Sprintf(`{"Event":{"Number":%d}}`, 101+i); line != want {
			t.Errorf("record %d is %s, want %s", i+1, line, want)
		}
	}
}

// failing is a file that cannot be read from a place on.
type failing struct {
	io.ReaderAt
	from int64
}

var errDisk = errors.New("input/output error")

func (f failing) ReadAt(b []byte, at int64) (int, error) {
	if at+int64(len(b)) > f.from {
		return 0, errDisk
	}
	return f.ReaderAt.ReadAt(b, at)
}

func TestAFileThatCannotBeReadIsAnError(t *testing.T) {
	file := append(numbered(3), numbered(3)[evtxtest.HeadSize:]...)
	for at, want := range map[int64]string{100: "input/output error", 4100: "input/output error", 80_000: "read the chunk at byte 69632: input/output error"} {
		r, err := Open(failing{bytes.NewReader(file), at}, int64(len(file)))
		for err == nil {
			_, err = r.Next(nil)
		}
		if !errors.Is(err, errDisk) || err.Error() != want {
			t.Errorf("at %d: got %v, want %s", at, err, want)
		}
	}
}

func TestAReaderStopsWhereItIsTold(t *testing.T) {
	file := numbered(10)
	for _, at := range evtxtest.Records(file) {
		file[at+24] = 0x3f
	}
	r, err := Open(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	r.Bad = func(n int, _ error) bool { return n < 3 }
	if _, err := r.Next(nil); !errors.Is(err, ErrStopped) || r.Records() != 3 {
		t.Errorf("got %v after %d records", err, r.Records())
	}
}
