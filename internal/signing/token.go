package signing

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// token is a place of a text that is filled for every message.
type token string

const (
	tokenBody      token = "body"
	tokenTimestamp token = "timestamp"
	tokenID        token = "id"
	tokenSignature token = "signature"
)

// piece is literal text, then perhaps a token behind it.
type piece struct {
	literal string
	token   token
}

// parse reads a text with tokens.
func parse(text string, known []token) ([]piece, error) {
	var pieces []piece
	for text != "" {
		literal, rest, found := strings.Cut(text, "{")
		if !found {
			pieces = append(pieces, piece{literal: literal})
			break
		}
		name, behind, closed := strings.Cut(rest, "}")
		if !closed {
			return nil, errors.New("{ is not closed")
		}
		if !slices.Contains(known, token(name)) {
			var names []string
			for _, t := range known {
				names = append(names, "{"+string(t)+"}")
			}
			return nil, fmt.Errorf("unknown token {%s} (valid tokens: %s)", name, strings.Join(names, ", "))
		}
		pieces = append(pieces, piece{literal, token(name)})
		text = behind
	}
	return pieces, nil
}

// fill appends the text with its tokens replaced in one pass: what was put in is not
// read for tokens.
func fill(dst []byte, pieces []piece, with func(dst []byte, t token) []byte) []byte {
	for _, p := range pieces {
		dst = append(dst, p.literal...)
		if p.token != "" {
			dst = with(dst, p.token)
		}
	}
	return dst
}
