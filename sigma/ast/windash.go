package ast

import "unicode"

// Dashes are the characters that a dash under windash stands for.
const Dashes = "-/\u2013\u2014\u2015"

// DashPositions returns where windash accepts any dash: at every dash, and at a
// slash that begins a word.
func DashPositions(s string) []int {
	var at []int
	var before rune = -1
	for i, r := range s {
		switch {
		case r == '-':
			at = append(at, i)
		case r == '/' && !isWord(before):
			for _, next := range s[i+1:] {
				if isWord(next) {
					at = append(at, i)
				}
				break
			}
		}
		before = r
	}
	return at
}

func isWord(r rune) bool {
	return r == '_' || r >= 0 && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
