package sources_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sources"
)

// halting is a stream that pauses before each of its pieces.
type halting struct {
	pieces []string
	paused bool // the pause before the next piece is over
	err    error
}

func (h *halting) Ready() bool {
	if len(h.pieces) == 0 {
		return true
	}
	h.paused = !h.paused
	return !h.paused
}

func (h *halting) Read(p []byte) (int, error) {
	if len(h.pieces) == 0 {
		return 0, h.err
	}
	n := copy(p, h.pieces[0])
	if h.pieces[0] = h.pieces[0][n:]; h.pieces[0] == "" {
		h.pieces = h.pieces[1:]
	}
	return n, nil
}

// inPieces cuts a text into pieces of a size.
func inPieces(text string, size int) (all []string) {
	for piece := range slices.Chunk([]byte(text), size) {
		all = append(all, string(piece))
	}
	return all
}

// messagesOf reads all messages of a stream. Those that are too long are shown by their
// beginning.
func messagesOf(r sources.PausingReader) (all []string, err error) {
	defer r.Close()
	for {
		texts, err := r.Next(nil)
		for _, m := range texts {
			if m.Oversize {
				all = append(all, fmt.Sprintf("oversize %d %.2s", len(m.Bytes), m.Bytes))
			} else {
				all = append(all, string(m.Bytes))
			}
			m.Buffer.Release(1)
		}
		if err == io.EOF { //nolint:errorlint // readers return it bare
			return all, nil
		} else if err != nil {
			return all, err
		}
		if len(texts) == 0 {
			r.Rest()
		}
	}
}

const megabyte = sources.MaxLine

func TestMessagesAreFramedOneByOne(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	broken := errors.New("reset by peer")
	for _, tc := range []struct {
		name   string
		text   string
		end    error // of the stream; nil for io.EOF
		want   []string
		faults []error
	}{
		{"nothing", "", nil, nil, nil},
		{"a counted message", "5 <1>ab", nil, []string{"<1>ab"}, nil},
		{"counted messages behind each other", "5 <1>ab4 <1>c", nil, []string{"<1>ab", "<1>c"}, nil},
		{"a counted message with line breaks is one", "8 <1>a\nb\nc", nil, []string{"<1>a\nb\nc"}, nil},
		{"a line ending that is counted does not belong to it", "6 <1>ab\n5 <1>cd", nil, []string{"<1>ab", "<1>cd"}, nil},
		{"a line ending behind a count is passed over", "5 <1>ab\n5 <1>cd\r\n", nil, []string{"<1>ab", "<1>cd"}, nil},
		{"lines", "<1>a\n<2>b\n", nil, []string{"<1>a", "<2>b"}, nil},
		{"lines with CR LF", "<1>a\r\n<2>b\r\n", nil, []string{"<1>a", "<2>b"}, nil},
		{"lines that end with NUL", "<1>a\x00<2>b\x00", nil, []string{"<1>a", "<2>b"}, nil},
		{"lines that end with NUL and LF", "<1>a\x00\n<2>b\x00\n", nil, []string{"<1>a", "<2>b"}, nil},
		{"a last line without an ending", "<1>a\n<2>b", nil, []string{"<1>a", "<2>b"}, nil},
		{"both kinds in turn", "<1>a\n4 <2>b<3>c\n4 <4>d", nil, []string{"<1>a", "<2>b", "<3>c", "<4>d"}, nil},
		{"blank lines are passed over", "\n \n<1>a\n\n", nil, []string{"<1>a"}, nil},
		{"blank messages are passed over", "3    4 <1>a1 \n", nil, []string{"<1>a"}, nil},
		{"a line that begins with a number and no space", "2026-01-02 a\n", nil, []string{"2026-01-02 a"}, nil},
		{"a number alone", "42\n", nil, []string{"42"}, nil},
		{"a number alone at the end", "42", nil, []string{"42"}, nil},
		{"a leading zero is no count", "05 <1>ab\n", nil, []string{"05 <1>ab"}, nil},
		{"zero is no count", "0 <1>ab\n", nil, []string{"0 <1>ab"}, nil},
		{"a sign is no count", "-5 <1>ab\n+5 c\n", nil, []string{"-5 <1>ab", "+5 c"}, nil},
		{"a number that is longer than counts are is text", "123456789012345678901 a\n", nil, []string{"123456789012345678901 a"}, nil},
		{"a count that is too large ends the stream", "4 <1>a99999999999 <1>b\n<2>c\n", nil, []string{"<1>a"}, []error{sources.ErrCount}},
		{"TLS ends the stream", "\x16\x03\x01\x00\x05hello\n<1>a\n", nil, nil, []error{sources.ErrTLS}},
		{"the beginning of TLS within a stream is text", "<1>a\n\x16\x03\n", nil, []string{"<1>a", "\x16\x03"}, nil},
		{"less than the beginning of TLS is text", "\x16\n", nil, []string{"\x16"}, nil},
		{"a count that the stream does not keep", "9 <1>ab", nil, []string{"<1>ab"}, []error{sources.ErrCut}},
		{"a count and nothing", "9 ", nil, nil, []error{sources.ErrCut}},
		{"a count that is too small", "4 <1>ab\n4 <2>c", nil, []string{"<1>a", "b", "<2>c"}, []error{sources.ErrOutStep}},
		{"a count that is too large by a little", "7 <1>ab5 <2>cd\n<3>e\n", nil, []string{"<1>ab5 ", "<2>cd", "<3>e"}, nil},
		{"a mark of the byte order at the beginning", "\xef\xbb\xbf<1>a\n", nil, []string{"<1>a"}, nil},
		{"a stream that breaks within a message", "<1>a\n<2>b", broken, []string{"<1>a"}, nil},
		{"a stream that breaks within a counted message", "<1>a\n9 <2>b", broken, []string{"<1>a"}, nil},
		{"the longest message", "1048576 " + x(megabyte) + "3 abc", nil, []string{x(megabyte), "abc"}, nil},
		{"the longest message with its ending", "1048578 " + x(megabyte) + "\r\n3 abc", nil, []string{x(megabyte), "abc"}, nil},
		{"a message that is too long by one", "1048577 " + x(megabyte+1) + "3 abc", nil, []string{"oversize 8192 xx", "abc"}, nil},
		{"a message that is much too long", fmt.Sprintf("%d %s3 abc", 3*megabyte, x(3*megabyte)), nil, []string{"oversize 8192 xx", "abc"}, nil},
		{"one that is cut off", fmt.Sprintf("%d %s", 3*megabyte, x(2*megabyte)), nil, []string{"oversize 8192 xx"}, []error{sources.ErrCut}},
		{"the longest line", x(megabyte) + "\r\nabc\n", nil, []string{x(megabyte), "abc"}, nil},
		{"a line that is too long by one", x(megabyte+1) + "\nabc\n", nil, []string{"oversize 8192 xx", "abc"}, nil},
		{"a line that is much too long", x(3*megabyte) + "\nabc\n", nil, []string{"oversize 8192 xx", "abc"}, nil},
	} {
		sizes := []int{1, 2, 3, 7, 100, 1 << 30}
		if len(tc.text) > 1000 {
			sizes = []int{1000, 4097, 1 << 30}
		}
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s in pieces of %d", tc.name, size), func(t *testing.T) {
				stream := &halting{pieces: inPieces(tc.text, size), err: io.EOF}
				if tc.end != nil {
					stream.err = tc.end
				}
				var faults []error
				got, err := messagesOf(new(sources.Buffers).NewOctetReader(stream, func(err error) { faults = append(faults, err) }))
				want := tc.end
				for _, fault := range []error{sources.ErrCount, sources.ErrTLS} {
					if slices.Contains(tc.faults, fault) {
						want = fault
					}
				}
				if !errors.Is(err, want) || (err == nil) != (want == nil) {
					t.Errorf("got error %v, want %v", err, want)
				}
				if !slices.Equal(got, tc.want) {
					t.Errorf("got %.200q, want %.200q", got, tc.want)
				}
				if !slices.Equal(faults, tc.faults) {
					t.Errorf("got faults %v, want %v", faults, tc.faults)
				}
			})
		}
	}
}

// However a stream is cut into pieces, its messages are the same.
func FuzzFramesOfSyslog(f *testing.F) {
	for _, text := range []string{
		"", "5 <1>ab", "5 <1>ab4 <1>c", "<1>a\n<2>b\n", "<1>a\x00<2>b", "4 <1>a\n05 x\n", "9 <1>ab", "99999999999 a", "7 <1>ab5 <2>cd\n", "2000000 xx", "\xef\xbb\xbf3 a\nb",
	} {
		f.Add([]byte(text), uint8(3))
	}
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		read := func(size int) ([]string, []error, error) {
			var faults []error
			r := new(sources.Buffers).NewOctetReader(&halting{pieces: inPieces(string(text), size), err: io.EOF}, func(err error) { faults = append(faults, err) })
			got, err := messagesOf(r)
			return got, faults, err
		}
		whole, faults, err := read(1 << 30)
		cut, cutFaults, cutErr := read(int(size) + 1)
		if !slices.Equal(whole, cut) || !slices.Equal(faults, cutFaults) || !errors.Is(cutErr, err) {
			t.Errorf("whole: %q %v %v; in pieces: %q %v %v", whole, faults, err, cut, cutFaults, cutErr)
		}
		sum := 0
		for _, m := range whole {
			sum += len(m)
			if strings.TrimSpace(m) == "" {
				t.Errorf("a blank message: %q", whole)
			}
		}
		if sum > len(text) {
			t.Errorf("%d bytes of messages in %d bytes", sum, len(text))
		}
	})
}

func TestAPauseKeepsNothingButTheBeginningOfALine(t *testing.T) {
	stream := &halting{pieces: []string{"a\nb", "c\n", "d\n"}, err: io.EOF}
	r := new(sources.Buffers).NewPausingReader(stream)
	var got []string
	var rests []bool
	for {
		texts, err := r.Next(nil)
		for _, l := range texts {
			got = append(got, string(l.Bytes))
			l.Buffer.Release(1)
		}
		if err != nil {
			break
		}
		if len(texts) == 0 {
			rests = append(rests, r.Rest())
		}
	}
	if want := []string{"a", "bc", "d"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []bool{false, true, false}; !slices.Equal(rests, want) {
		t.Errorf("unfinished at the pauses: %v, want %v", rests, want)
	}
}

// batches are datagrams by the read that brings them.
type batches [][]string

func (b *batches) ReadMany(p []byte, sizes []int) ([]int, error) {
	if len(*b) == 0 {
		return sizes, io.EOF
	}
	for _, d := range (*b)[0] {
		n := copy(p, d)
		p = p[n:]
		sizes = append(sizes, n)
	}
	*b = (*b)[1:]
	return sizes, nil
}

func TestADatagramIsAMessage(t *testing.T) {
	large := strings.Repeat("y", sources.MaxDatagram)
	for _, tc := range []struct {
		name string
		in   batches
		want []string
	}{
		{"nothing", nil, nil},
		{"several at once", batches{{"<1>a", "<2>b"}, {"<3>c"}}, []string{"<1>a", "<2>b", "<3>c"}},
		{"line breaks belong to it, line endings do not", batches{{"<1>a\nb\n", "c\r\n", "d\x00"}}, []string{"<1>a\nb", "c", "d"}},
		{"blank ones are passed over", batches{{"", " ", "\n"}, {"a", "", "b"}}, []string{"a", "b"}},
		{"a number is not a count", batches{{"3 abcdef"}}, []string{"3 abcdef"}},
		{"large ones", batches{{large, "a", large, "b"}}, []string{large, "a", large, "b"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			r := new(sources.Buffers).NewDatagramReader(&tc.in)
			for {
				texts, err := r.Next(nil)
				for _, m := range texts {
					got = append(got, string(bytes.Clone(m.Bytes)))
					m.Buffer.Release(1)
				}
				if err != nil {
					break
				}
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("got %.100q, want %.100q", got, tc.want)
			}
		})
	}
}
