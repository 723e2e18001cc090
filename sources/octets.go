package sources

import (
	"bytes"
	"errors"
)

// The faults of a stream of messages that are framed as in RFC 6587.
var (
	ErrCount   = errors.New("the count of a message is too large")
	ErrCut     = errors.New("the stream ended within a message")
	ErrOutStep = errors.New("a count was not that of its message")
	ErrTLS     = errors.New("the stream begins like TLS, and is read without it")
)

// maxCount is the largest count of a message that is believed. What is longer than a line
// may be is passed over; a count beyond this would pass over all that ever comes.
const maxCount = 64 << 20

// OctetReader cuts a stream into the messages of syslog as RFC 6587 and RFC 5425 have them.
// A message that begins with a number, without leading zeros, and a space has as many
// bytes as the number says, line breaks among them. Every other one ends with LF or NUL.
// Each message is told apart anew.
//
// Line endings and NUL at the end of a message do not belong to it, and blank messages are
// passed over. A message that the end of the stream cuts off counts as far as it came. Of
// what is longer than MaxLine it reports the beginning.
//
// It is not safe for concurrent use.
type OctetReader struct {
	chunks
	fault   func(error)
	left    int  // bytes of a counted message that are passed over
	counted bool // the message before had a count
	greeted bool // something has been taken of the stream
}

// NewOctetReader returns a reader of the messages of src whose memory is b's. It is to be
// closed. It tells fault of each of the faults above; ErrCount and ErrTLS end the stream.
func (b *Buffers) NewOctetReader(src Pausing, fault func(error)) *OctetReader {
	r := &OctetReader{chunks: newChunks(b, src), fault: fault}
	r.pausing = src
	return r
}

// Next implements Reader.
func (r *OctetReader) Next(dst []Text) ([]Text, error) { return r.next(dst, r) }

// cut implements cutter.
func (r *OctetReader) cut(dst []Text) []Text {
	for r.start < len(r.chunk) {
		rest := r.chunk[r.start:]
		switch {
		case r.left > 0:
			n := min(r.left, len(rest))
			r.left -= n
			r.start += n
			r.scanned, r.skipping = r.start, r.left > 0
			continue
		case r.skipping:
			if r.start += lineEnd(rest); r.start < len(r.chunk) {
				r.start++
				r.skipping = false
			}
			r.scanned = r.start
			continue
		}
		if !r.greeted && len(rest) >= 2 && rest[0] == handshake && rest[1] == majorVersion {
			r.fault(ErrTLS)
			r.err, r.start = ErrTLS, len(r.chunk)
			return dst
		}
		head, size, told := countOf(rest)
		if !told && !r.ended() {
			break
		}
		if size > maxCount {
			r.fault(ErrCount)
			r.err, r.start = ErrCount, len(r.chunk)
			return dst
		}
		var whole bool
		if size > 0 {
			dst, whole = r.takeCounted(dst, head, size)
		} else {
			dst, whole = r.takeLine(dst)
		}
		if !whole {
			break
		}
		r.scanned, r.greeted = r.start, true
	}
	if r.ended() && r.left > 0 {
		r.left = 0
		r.fault(ErrCut)
	}
	return dst
}

// takeCounted takes the counted message that begins with the rest of the chunk, and reports
// whether all that is there of it was taken.
func (r *OctetReader) takeCounted(dst []Text, head, size int) ([]Text, bool) {
	r.counted = true
	message := r.chunk[r.start+head:]
	switch {
	case len(message) >= size:
		message = message[:size:size]
	case size > MaxLine+maxEnd && len(message) >= ExcerptSize: // the rest is passed over
		r.left = size - len(message)
		r.skipping, r.spent = true, true
	case r.ended():
		r.fault(ErrCut)
		message = message[:len(message):len(message)]
	default:
		r.scanned = len(r.chunk)
		return dst, false
	}
	r.start += head + len(message)
	if r.left > 0 {
		return append(dst, Text{Bytes: bytes.Clone(message[:ExcerptSize]), Oversize: true}), true
	}
	return r.append(dst, trimEnd(message)), true
}

// maxEnd is how much longer than a line a message is held, to find out whether it ends with
// what does not belong to it.
const maxEnd = 2

// takeLine is takeCounted of a message that ends with LF or NUL.
func (r *OctetReader) takeLine(dst []Text) ([]Text, bool) {
	from := r.start
	if r.scanned > from {
		from = r.scanned
	}
	if c := r.chunk[r.start]; r.counted && c != '<' && c != '\n' && c != '\r' && c != 0 {
		r.fault(ErrOutStep)
	}
	if c := r.chunk[r.start]; c != '\n' && c != '\r' && c != 0 { // behind what a count left out, another may follow
		r.counted = false
	}
	end := from + lineEnd(r.chunk[from:])
	switch message := r.chunk[r.start:end:end]; {
	case end < len(r.chunk):
		r.start = end + 1
		return r.append(dst, trimEnd(message)), true
	case len(message) > MaxLine+maxEnd:
		r.start, r.skipping, r.spent = len(r.chunk), true, true
		return r.append(dst, message), true
	case r.ended():
		r.start = len(r.chunk)
		return r.append(dst, trimEnd(message)), true
	}
	r.scanned = len(r.chunk)
	return dst, false
}

// append appends a message unless it is blank.
func (r *OctetReader) append(dst []Text, message []byte) []Text {
	switch {
	case len(message) > MaxLine:
		return append(dst, Text{Bytes: bytes.Clone(message[:ExcerptSize]), Oversize: true})
	case Blank(message):
		return dst
	}
	return append(dst, Text{Bytes: message})
}

// What a stream of TLS begins with: the type of the record, and half of its version.
const (
	handshake    = 0x16
	majorVersion = 0x03
)

// countOf finds the count that b begins with, and where the message behind it begins. The
// size is 0 when there is none; told is false when more has to come to know that.
func countOf(b []byte) (head, size int, told bool) {
	for i, c := range b {
		switch {
		case c >= '1' && c <= '9', c == '0' && i > 0:
			if size = size*10 + int(c-'0'); size > maxCount {
				size = maxCount + 1
			}
			if i == maxDigits {
				return 0, 0, true
			}
		case c == ' ' && i > 0:
			return i + 1, size, true
		default:
			return 0, 0, true
		}
	}
	return 0, 0, false
}

// maxDigits is the most that a count has. A longer number is text.
const maxDigits = 20

// lineEnd is the place of the first LF or NUL in b, or its end.
func lineEnd(b []byte) int {
	if i := bytes.IndexByte(b, '\n'); i >= 0 {
		b = b[:i]
	}
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return len(b)
}

// trimEnd removes what transports put behind a message.
func trimEnd(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r' || b[len(b)-1] == 0) {
		b = b[:len(b)-1]
	}
	return b
}
