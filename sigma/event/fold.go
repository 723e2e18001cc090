package event

import (
	"encoding/binary"
	"unicode"
	"unicode/utf8"
)

// FoldRune returns the one character that stands for all that differ from r by
// case only (Unicode simple case folding). It is lower case for ASCII.
func FoldRune(r rune) rune {
	switch {
	case r < utf8.RuneSelf:
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	case r < 0x100:
		if 0xC0 <= r && r <= 0xDE && r != 0xD7 {
			return r + 0x20
		}
		if r == 0xB5 { // the micro sign folds with the Greek letter
			return 0x3BC
		}
		return r
	case 0x2E80 <= r && r < 0xA640 || 0xABC0 <= r && r < 0xFB00:
		return r // ideographs, syllables and surrogates have no case
	}
	next := unicode.SimpleFold(r)
	if next == r {
		return r
	}
	return unicode.ToLower(unicode.ToUpper(r))
}

// AppendFolded appends the folded form of UTF-8 text.
func AppendFolded(dst, text []byte) []byte {
	for i := 0; i < len(text); {
		if i+8 <= len(text) {
			if x := binary.LittleEndian.Uint64(text[i:]); x&highs == 0 {
				dst = binary.LittleEndian.AppendUint64(dst, foldWord(x))
				i += 8
				continue
			}
		}
		if c := text[i]; c < utf8.RuneSelf {
			dst = append(dst, lowerByte(c))
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		dst = utf8.AppendRune(dst, FoldRune(r))
		i += n
	}
	return dst
}

// Fold returns the folded form of s, which is s itself when nothing changes.
func Fold(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return string(AppendFolded(make([]byte, 0, len(s)+8), []byte(s)))
		}
	}
	return s
}
