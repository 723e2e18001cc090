// Package clip shortens texts that messages quote.
package clip

import "unicode/utf8"

// mark stands for what is missing.
const mark = "..."

// Text returns s, or its beginning and three dots when it has more than so many bytes. It
// cuts between characters.
func Text(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := max(0, most-len(mark))
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + mark
}
