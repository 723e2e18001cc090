package jsonpath

import "strings"

// cost is what evaluating a filter expression takes at most, as far as its text tells.
// The library evaluates an expression at once and cannot be told to stop.
type cost struct {
	root  bool // it looks at the root
	terms int
	// By how deep they stand in brackets: queries that may select more than one node, of
	// the value and of the root. Those within others are run for each node of these.
	levels []level
}

type level struct{ own, root int }

// regularExpression is what matching one takes, in steps, beside the length of the value.
const regularExpression = 100

// of is the cost for a value of so many nodes within a root of so many.
func (c cost) of(own, root int) int {
	const most = 1 << 40
	total := c.terms
	factor := 1
	for _, l := range c.levels {
		if l.own == 0 && l.root == 0 {
			continue
		}
		if factor *= 1 + l.own*own + l.root*root; factor > most {
			return most
		}
	}
	return min(most, total*factor)
}

// costOf reads the text of an expression as the library writes it: strings in double
// quotes, and every segment in brackets.
func costOf(text string) cost {
	c := cost{terms: 1}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			i = behindString(text, i) - 1
		case '[':
			depth++
		case ']':
			depth--
		case '$', '@':
			c.terms++
			root := text[i] == '$'
			c.root = c.root || root
			for len(c.levels) <= depth {
				c.levels = append(c.levels, level{})
			}
			switch n := several(text[i+1:]); {
			case root:
				c.levels[depth].root += n
			default:
				c.levels[depth].own += n
			}
		case '(':
			if strings.HasSuffix(text[:i], "match") || strings.HasSuffix(text[:i], "search") {
				c.terms += regularExpression
			}
		}
	}
	return c
}

// several is how many segments of the query that text begins with may select more than
// one node each.
func several(text string) int {
	n := 0
	for i := 0; i < len(text); {
		if strings.HasPrefix(text[i:], "..") {
			n += 2 // the nodes below each node: as often as it is deep
			i += 2
		}
		if i >= len(text) || text[i] != '[' {
			return n
		}
		depth, singular := 0, true
		for ; i < len(text); i++ {
			switch text[i] {
			case '"':
				i = behindString(text, i) - 1
				continue
			case '[':
				depth++
			case ']':
				depth--
			case '*', '?', ':', ',':
				singular = singular && depth > 1
			}
			if depth == 0 {
				i++
				break
			}
		}
		if !singular {
			n++
		}
	}
	return n
}

// behindString returns the position behind the string that begins at i.
func behindString(text string, i int) int {
	for i++; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}
