package match

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"unicode/utf8"
)

// A text longer than maxText is not kept. Its place takes its length, its first bytes
// and a hash, by which it is compared. A record has the plain digest of the text, so
// that the workers do what takes time; what the state has of it is a hash keyed with
// the Secret of the state, for which nobody outside can find two texts.
const (
	maxText  = 1 << 10
	headText = 128
	hashText = 16

	digestPart = headText + sha256.Size // behind the length, in a record
	hashedPart = headText + hashText    // in the state
)

// A single text that is counted is written as it is. When it is long, or begins like
// the mark, it is written as a part behind the mark, which no text in UTF-8 has.
const longMark = 0xff

// marked reports whether a counted text has to be written behind the mark.
func marked(text []byte) bool { return len(text) > maxText || len(text) > 0 && text[0] == longMark }

// Secret is the key of the hashes of long texts. It is a part of the state.
type Secret [16]byte

// NewSecret returns a random key.
func NewSecret() (s Secret) {
	_, _ = rand.Read(s[:]) // never fails
	return s
}

// digest is that of a long text, the value of a field of the current record.
type digest struct {
	field int
	sum   [sha256.Size]byte
}

// appendPart appends the text of a field as a part of a key or tuple.
func (x *Extractor) appendPart(dst []byte, field int, text []byte) []byte {
	if len(text) <= maxText {
		return AppendPart(dst, text)
	}
	return x.appendLong(dst, field, text)
}

// appendLong is appendPart for a long text.
func (x *Extractor) appendLong(dst []byte, field int, text []byte) []byte {
	i := slices.IndexFunc(x.digests, func(d digest) bool { return d.field == field })
	if i < 0 {
		i = len(x.digests)
		x.digests = append(x.digests, digest{field, sha256.Sum256(text)})
	}
	dst = binary.AppendUvarint(dst, uint64(len(text))+1)
	dst = append(dst, text[:headText]...)
	return append(dst, x.digests[i].sum[:]...)
}

// Seal appends a key or tuple of a record as the state has it.
func (s *Secret) Seal(dst, parts []byte) []byte {
	for len(parts) > 0 {
		size, n := binary.Uvarint(parts)
		if size <= maxText+1 {
			n += int(max(size, 1)) - 1
			dst = append(dst, parts[:n]...)
			parts = parts[n:]
			continue
		}
		n += headText
		var keyed [len(s) + sha256.Size]byte
		copy(keyed[copy(keyed[:], s[:]):], parts[n:])
		sum := sha256.Sum256(keyed[:])
		dst = append(append(dst, parts[:n]...), sum[:hashText]...)
		parts = parts[n+sha256.Size:]
	}
	return dst
}

// SealText appends a single counted text of a record as the state has it.
func (s *Secret) SealText(dst, text []byte) []byte {
	if len(text) == 0 || text[0] != longMark {
		return append(dst, text...)
	}
	return s.Seal(append(dst, longMark), text[1:])
}

// AppendCounted appends a part of a key of the state as a single counted text.
func AppendCounted(dst []byte, part []byte) []byte {
	size, n := binary.Uvarint(part)
	if size > maxText+1 || size > 1 && part[n] == longMark {
		return append(append(dst, longMark), part...)
	}
	return append(dst, part[n:]...)
}

// Counted returns a single counted text of the state as it is shown.
func Counted(text string) string {
	if text == "" || text[0] != longMark {
		return text
	}
	part, _, _ := Cut(text[1:])
	return part
}

// showLong is what is shown of a long text: its beginning and its length. The hash
// stays inside, since it differs from state to state and results do not.
func showLong(length uint64, head string) string {
	for i := 1; i < utf8.UTFMax; i++ {
		if last := head[headText-i:]; utf8.RuneStart(last[0]) {
			if !utf8.FullRuneInString(last) {
				head = head[:headText-i]
			}
			break
		}
	}
	return fmt.Sprintf("%s… (%d bytes)", head, length)
}
