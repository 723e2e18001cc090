package ast

import (
	"fmt"
	"strings"
)

// Stage says where a document's problem was found.
type Stage string

// The stages, in the order in which a document passes them.
const (
	StageParse   Stage = "parse"
	StageCompile Stage = "compile"
)

// Problem is one reason why a document is rejected, or, in a list of warnings,
// one thing an author should know.
type Problem struct {
	File     string `json:"file"`
	Document int    `json:"document"`       // from 1; 0 is the file as a whole
	Line     int    `json:"line,omitempty"` // 0 when unknown
	Title    string `json:"title,omitempty"`
	ID       string `json:"id,omitempty"`
	Stage    Stage  `json:"stage"`
	Reason   string `json:"reason"`
	Other    string `json:"-"` // another file that Reason names
}

// Error renders the problem on one line: place, document, title and reason. A problem
// of no file is its reason.
func (p Problem) Error() string {
	if p.File == "" && p.Document == 0 {
		return Printable(p.Reason)
	}
	var b strings.Builder
	b.WriteString(Printable(p.File))
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Document > 0 {
		fmt.Fprintf(&b, ": document %d", p.Document)
	}
	switch {
	case p.Title != "" && p.ID != "":
		fmt.Fprintf(&b, " (%q, %s)", p.Title, Printable(p.ID))
	case p.Title != "":
		fmt.Fprintf(&b, " (%q)", p.Title)
	case p.ID != "":
		fmt.Fprintf(&b, " (%s)", Printable(p.ID))
	}
	return b.String() + ": " + Printable(p.Reason)
}
