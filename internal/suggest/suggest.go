// Package suggest finds the known name that a misspelt one was meant to be.
package suggest

import (
	"fmt"
	"strings"
)

const (
	maxEdits  = 2  // letters that a misspelt name may be wrong in
	short     = 3  // bytes of names that may be wrong in one letter only
	maxLength = 64 // bytes of names that are compared
)

// Nearest returns the first of the known names that differs least from name: by
// at most two edits, each of which inserts, removes, replaces or swaps one letter;
// a name of three letters or fewer by one. The case of letters does not count.
// It returns an empty text when every known name differs more.
func Nearest(name string, known []string) string {
	if len(name) > maxLength {
		return ""
	}
	best, least := "", maxEdits+1
	if len(name) <= short {
		least = min(maxEdits, len(name))
	}
	name = strings.ToLower(name)
	for _, k := range known {
		if len(k) > maxLength {
			continue
		}
		if d := distance(name, strings.ToLower(k)); d < least {
			best, least = k, d
		}
	}
	return best
}

// Text is the question behind a message about a misspelt name, empty when no
// known name is near.
func Text(name string, known []string) string {
	if near := Nearest(name, known); near != "" {
		return fmt.Sprintf("did you mean '%s'?", near)
	}
	return ""
}

// Behind is Text as it stands behind a message: a blank and parentheses, or nothing.
func Behind(name string, known []string) string {
	if text := Text(name, known); text != "" {
		return " (" + text + ")"
	}
	return ""
}

// Error is an error about a misspelt name.
type Error struct {
	Err        error
	Suggestion string // as of Text
}

// Wrap adds the suggestion for name to an error.
func Wrap(err error, name string, known []string) error {
	return &Error{Err: err, Suggestion: Text(name, known)}
}

// Error is the message of the error without its suggestion.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap gives the error without its suggestion.
func (e *Error) Unwrap() error { return e.Err }

// distance counts the edits between two short words (Damerau and Levenshtein).
func distance(a, b string) int {
	if apart := len(a) - len(b); apart > maxEdits || apart < -maxEdits {
		return maxEdits + 1
	}
	var rows [3][3*maxLength + 1]int // lower case may be longer
	before, row, next := rows[0][:len(b)+1], rows[1][:len(b)+1], rows[2][:len(b)+1]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			replace := row[j]
			if a[i] != b[j] {
				replace++
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, replace)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
	}
	return row[len(b)]
}
