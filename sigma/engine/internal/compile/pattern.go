package compile

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// Pattern is a text with wildcards and dash classes, anchored or not.
type Pattern struct {
	runs       [][]element // what stands between runs of any text
	start, end bool        // the first and last runs are anchored
}

// element matches a fixed number of characters.
type element struct {
	text string // literal when not empty
	dash bool   // a dash variant; else any one character
}

// newPattern joins parts; a part of kind dashPart is a dash class.
func newPattern(parts []ast.Part, op Kind, cased bool) *Pattern {
	p := &Pattern{start: op == Exact || op == Prefix, end: op == Exact || op == Suffix}
	var run []element
	for _, part := range parts {
		switch part.Kind {
		case ast.Many:
			p.runs = append(p.runs, run)
			run = nil
		case ast.One:
			run = append(run, element{})
		case dashPart:
			run = append(run, element{dash: true})
		default:
			text := part.Text
			if !cased {
				text = event.Fold(text)
			}
			run = append(run, element{text: text})
		}
	}
	p.runs = append(p.runs, run)
	return p
}

// dashPart extends the part kinds of rule values by a dash class.
const dashPart = ast.PartKind(255)

// String tells patterns apart.
func (p *Pattern) String() string {
	var b strings.Builder
	for i, run := range p.runs {
		if i > 0 {
			b.WriteString("\x01*")
		}
		for _, e := range run {
			switch {
			case e.dash:
				b.WriteString("\x01-")
			case e.text == "":
				b.WriteString("\x01?")
			default:
				b.WriteString(e.text)
			}
		}
	}
	if p.start {
		b.WriteString("\x01^")
	}
	if p.end {
		b.WriteString("\x01$")
	}
	return b.String()
}

// Match reports whether the text satisfies the pattern. It takes time linear in
// the text for each run.
func (p *Pattern) Match(text []byte) bool {
	runs := p.runs
	if len(runs) == 1 && p.start && p.end {
		return matchRun(runs[0], text) == len(text)
	}
	if p.start {
		n := matchRun(runs[0], text)
		if n < 0 {
			return false
		}
		text, runs = text[n:], runs[1:]
	}
	var last []element
	if p.end && len(runs) > 0 {
		last, runs = runs[len(runs)-1], runs[:len(runs)-1]
	}
	for _, run := range runs {
		end := findRun(run, text)
		if end < 0 {
			return false
		}
		text = text[end:]
	}
	return last == nil || endsWithRun(last, text)
}

// matchRun returns the length of the run at the start of text, or -1.
func matchRun(run []element, text []byte) int {
	at := 0
	for _, e := range run {
		rest := text[at:]
		if e.text != "" {
			if len(rest) < len(e.text) || string(rest[:len(e.text)]) != e.text {
				return -1
			}
			at += len(e.text)
			continue
		}
		if len(rest) == 0 {
			return -1
		}
		r, n := utf8.DecodeRune(rest)
		if e.dash && !strings.ContainsRune(ast.Dashes, r) {
			return -1
		}
		at += n
	}
	return at
}

// findRun returns the end of the first place in text where the run matches.
func findRun(run []element, text []byte) int {
	for at := 0; at <= len(text); {
		if len(run) > 0 && run[0].text != "" {
			i := bytes.Index(text[at:], unsafeBytes(run[0].text))
			if i < 0 {
				return -1
			}
			at += i
		}
		if n := matchRun(run, text[at:]); n >= 0 {
			return at + n
		}
		_, n := utf8.DecodeRune(text[at:])
		at += max(n, 1)
	}
	return -1
}

// endsWithRun steps back as many characters as the run has.
func endsWithRun(run []element, text []byte) bool {
	at := len(text)
	for i := len(run) - 1; i >= 0; i-- {
		if e := run[i]; e.text != "" {
			at -= len(e.text)
		} else if at > 0 {
			_, n := utf8.DecodeLastRune(text[:at])
			at -= n
		} else {
			return false
		}
		if at < 0 {
			return false
		}
	}
	return matchRun(run, text[at:]) == len(text)-at
}

// literals returns the texts that must occur, and whether the first and last of
// them are anchored.
func (p *Pattern) literals() (texts []string, first, last bool) {
	for i, run := range p.runs {
		for j, e := range run {
			if e.text == "" {
				continue
			}
			texts = append(texts, e.text)
			first = first || p.start && i == 0 && j == 0
			last = p.end && i == len(p.runs)-1 && j == len(run)-1
		}
	}
	return texts, first, last
}
