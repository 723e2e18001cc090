package deadletters

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/sluicehq/sluice/sources"
)

// maxLine is how long a line may be. A dead letter of the daemon is far shorter.
const maxLine = 64 << 20

// Stdin is the name of standard input among files.
const Stdin = "-"

// stream reads the lines of one file. What is compressed with gzip is read as what it
// holds.
type stream struct {
	name  string
	in    *bufio.Reader
	close func() error
	end   int64 // of what was read, in bytes of text
	began int64 // where the line that was read last begins
	line  int   // that was read last
	buf   []byte
}

// open opens a file as far as it reaches now: what is appended from here on is not read.
func open(name string, stdin io.Reader) (*stream, error) {
	if name == Stdin {
		return newStream(name, stdin, func() error { return nil }), nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = fmt.Errorf("%s is a directory; name the files in it", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	var in io.Reader = f
	if info.Mode().IsRegular() {
		in = io.LimitReader(f, info.Size())
	}
	return newStream(name, in, f.Close), nil
}

func newStream(name string, in io.Reader, closing func() error) *stream {
	return &stream{name: name, in: bufio.NewReaderSize(sources.NewInflatingReader(in), 64<<10), close: closing}
}

var (
	errTooLong = fmt.Errorf("longer than %d MiB", maxLine>>20)
	errCutOff  = errors.New("the file ends within it; it may still be under way")
)

// next reads a line, without its end. The text is valid until the next call. An error
// other than errTooLong and errCutOff ends the stream; io.EOF is its proper end.
func (s *stream) next() (text []byte, err error) {
	s.buf, s.began = s.buf[:0], s.end
	long := false
	for {
		part, err := s.in.ReadSlice('\n')
		s.end += int64(len(part))
		if long = long || len(s.buf)+len(part) > maxLine; !long {
			s.buf = append(s.buf, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil && !errors.Is(err, io.EOF) {
			if s.line == 0 {
				return nil, fmt.Errorf("%s: %w", s.name, err)
			}
			return nil, fmt.Errorf("%s: after line %d: %w", s.name, s.line, err)
		}
		if err != nil && len(s.buf) == 0 && !long {
			return nil, io.EOF
		}
		s.line++
		switch {
		case long:
			s.buf = nil
			return nil, errTooLong
		case err != nil:
			return s.buf, errCutOff
		}
		return bytes.TrimRight(s.buf, "\r\n"), nil
	}
}

// skip reads over text up to a place.
func (s *stream) skip(to int64, line int) error {
	n, err := io.CopyN(io.Discard, s.in, to-s.end)
	s.end, s.line = s.end+n, line
	return err
}
