package evtx

import (
	"unicode/utf16"
	"unicode/utf8"
)

const hexLower, hexUpper = "0123456789abcdef", "0123456789ABCDEF"

// appendUTF16 appends the text that b spells in UTF-16, up to a NUL, as it stands between the
// quotes of a JSON string. Half a surrogate pair becomes U+FFFD.
func appendUTF16(dst, b []byte) []byte {
	for i := 0; i+1 < len(b); i += 2 {
		if lo := b[i]; b[i+1] == 0 && lo < utf8.RuneSelf && lo >= ' ' && lo != '"' && lo != '\\' {
			dst = append(dst, lo)
			continue
		}
		r := rune(b[i]) | rune(b[i+1])<<8
		if r == 0 {
			break
		}
		if utf16.IsSurrogate(r) {
			low := rune(0)
			if i+3 < len(b) {
				low = rune(b[i+2]) | rune(b[i+3])<<8
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				i += 2
			}
		}
		dst = appendRune(dst, r)
	}
	return dst
}

// appendRune appends a character as it stands between the quotes of a JSON string.
func appendRune(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	if r < ' ' {
		return append(dst, '\\', 'u', '0', '0', hexLower[r>>4], hexLower[r&15])
	}
	return utf8.AppendRune(dst, r)
}

// appendANSI appends the text that b spells in the code page of Western Europe, up to a NUL.
func appendANSI(dst, b []byte) []byte {
	for _, c := range b {
		switch {
		case c == 0:
			return dst
		case c >= 0x80 && c < 0xa0:
			dst = appendRune(dst, windows1252[c-0x80])
		default:
			dst = appendRune(dst, rune(c))
		}
	}
	return dst
}

// windows1252 are the characters 0x80 to 0x9f of code page 1252. All others are those of
// Unicode.
var windows1252 = [32]rune{
	'€', 0x81, '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', 0x8d, 'Ž', 0x8f,
	0x90, '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', 0x9d, 'ž', 'Ÿ',
}

// appendHex appends bytes as pairs of digits.
func appendHex(dst, b []byte) []byte {
	for _, c := range b {
		dst = append(dst, hexUpper[c>>4], hexUpper[c&15])
	}
	return dst
}
