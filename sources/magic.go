package sources

import (
	"fmt"
	"strings"
)

// Encoding is what a stream is that holds no text in UTF-8 as it comes.
type Encoding uint8

// The encodings that a stream shows at its beginning. Text8 stands for all else.
const (
	Text8 Encoding = iota
	Gzip
	UTF16
	XZ
	Zstd
	Bzip2
	Zip
	EventLog // records of the Windows event log
)

// encodings are the names of encodings, what they begin with and what makes lines of
// them. No text in UTF-8 begins so; "?" is any digit.
var encodings = [...]struct {
	name   string
	magics []string
	tool   string
}{
	Text8:    {name: "text"},
	Gzip:     {"gzip", []string{"\x1f\x8b"}, "gzip -dc FILE"},
	UTF16:    {"UTF-16", []string{"\xff\xfe", "\xfe\xff"}, "iconv -f UTF-16 -t UTF-8 FILE"},
	XZ:       {"xz", []string{"\xfd7zXZ\x00"}, "xz -dc FILE"},
	Zstd:     {"zstd", []string{"\x28\xb5\x2f\xfd"}, "zstd -dc FILE"},
	Bzip2:    {"bzip2", []string{"BZh?1AY&SY"}, "bzip2 -dc FILE"},
	Zip:      {"zip", []string{"PK\x03\x04"}, "unzip -p FILE"},
	EventLog: {"a file of Windows event records", []string{"ElfFile\x00"}, "evtx_dump -o jsonl FILE"},
}

// String is the name of the encoding, as a message says what a stream is.
func (e Encoding) String() string { return encodings[e].name }

// Tool is the command that makes text of FILE.
func (e Encoding) Tool() string { return encodings[e].tool }

// EncodingError is a stream that is not read, since it is no text.
type EncodingError struct{ Encoding Encoding }

// Error says what the stream is and what to do.
func (e *EncodingError) Error() string {
	return fmt.Sprintf("it is %s, which is not read: send it through %s", e.Encoding, e.Encoding.Tool())
}

// longestMagic is how much of a stream tells its encoding.
const longestMagic = len("BZh?1AY&SY")

// Mark looks for an encoding at the beginning of a stream that comes in pieces. The zero
// value is at the beginning.
type Mark struct {
	head [longestMagic]byte
	seen int
	over bool // nothing is looked for any more
}

// In returns the encoding that the stream shows, once, when the next piece does.
func (m *Mark) In(piece []byte) Encoding {
	for i := 0; i < len(piece) && !m.over; i++ {
		m.head[m.seen] = piece[i]
		m.seen++
		m.over = true
		for e := range encodings {
			for _, magic := range encodings[e].magics {
				switch {
				case !begins(magic, m.head[:m.seen]):
				case len(magic) == m.seen:
					return Encoding(e)
				default:
					m.over = false
				}
			}
		}
	}
	return Text8
}

// begins reports whether magic begins with head.
func begins(magic string, head []byte) bool {
	if len(head) > len(magic) {
		return false
	}
	for i, c := range head {
		if c != magic[i] && (magic[i] != '?' || !strings.ContainsRune("123456789", rune(c))) {
			return false
		}
	}
	return true
}
