package load

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load/internal/check"
)

// parsed is one document as it was read, in a form that can be stored. Nobody
// changes it afterwards.
type parsed struct {
	Number   int // within its file, from 1; 0 stands for the file as a whole
	Line     int
	Title    string
	ID       string
	Name     string
	Identity [sha256.Size]byte           // digest of the content, once the documents are sealed
	Written  map[check.Spelling][]string // modifiers of conflicting keys, as written

	Problems []ast.Problem // of reading it
	Warnings []ast.Problem

	Excluded   bool
	ExcludedBy []int // numbers of the exclusions that cover it

	// One of these says what the document is. None is set when it has no
	// readable form, or is excluded.
	Rule        *ast.Rule
	Filter      *ast.Filter
	Correlation *correlation
}

// draft is a document on its way to becoming a rule, or to being rejected. Its
// problems and warnings grow on the way.
type draft struct {
	parsed
	file   string
	root   *document.Node // the content as merged; nil when Identity stands for it
	memory memory         // of the file; nil while its documents have nothing in common
	common bool           // documents of the file have parts in common

	state            state
	logsourceWritten ast.Logsource // before pipelines
	fieldsWritten    []string      // likewise
	targets          []*reference  // of a correlation: what each of its references names
	memberTargets    []*reference  // and each of its members
	node             int           // of a correlation: its number in the graph
	filtered         []*draft      // of a filter: the rules it is aimed at
	dependent        *dependent    // nil unless values from outside had a say
	read, made       int           // warnings of a rule before and after it was made of the document
}

// again returns a draft of a document that was read, which stays as it is.
func (p *parsed) again(file string, root *document.Node) *draft {
	d := &draft{parsed: *p, file: file, root: root}
	d.Problems, d.Warnings = slices.Clip(d.Problems), slices.Clip(d.Warnings)
	switch {
	case d.Excluded:
		d.state = excluded
	case d.Rule != nil:
		rule := *d.Rule
		d.Rule = &rule
	case d.Correlation != nil:
		d.Correlation = d.Correlation.working()
	}
	return d
}

// state says whether a document is left out for another reason than its faults.
type state uint8

const (
	pending  state = iota
	excluded       // by level, id, tag or status
	skipped        // by a pipeline
)

// newDraft takes the names of a document from its root as far as they are readable.
func newDraft(file string, number int, root *document.Node) *draft {
	d := &draft{file: file, root: root}
	d.Number, d.Line = number, root.Line
	d.Title, _ = root.Get("title").Str()
	d.ID, _ = root.Get("id").Str()
	d.Name, _ = root.Get("name").Str()
	return d
}

// newFault makes the draft of what could not be read as a document. The digest of
// the file stands for its content.
func newFault(file string, number int, content [sha256.Size]byte) *draft {
	return &draft{parsed: parsed{Number: number, Identity: content}, file: file}
}

func (d *draft) problem(stage ast.Stage, line int, reason string) ast.Problem {
	return ast.Problem{File: d.file, Document: d.Number, Line: line, Title: d.Title, ID: d.ID, Stage: stage, Reason: readable(reason)}
}

// fail records a problem of reading; the document is rejected.
func (d *draft) fail(line int, format string, args ...any) {
	d.tellf(&d.Problems, ast.StageParse, line, format, args)
}

// failCompile records a problem that is no matter of syntax.
func (d *draft) failCompile(line int, format string, args ...any) {
	d.tellf(&d.Problems, ast.StageCompile, line, format, args)
}

func (d *draft) warn(line int, format string, args ...any) {
	d.tellf(&d.Warnings, "", line, format, args)
}

// tellf writes out only what is told.
func (d *draft) tellf(list *[]ast.Problem, stage ast.Stage, line int, format string, args []any) {
	if len(*list) <= check.MaxProblems {
		d.tell(list, d.problem(stage, line, fmt.Sprintf(format, args...)))
	}
}

// tell adds to a list of problems. Behind the last that is told stands one that says so.
func (d *draft) tell(list *[]ast.Problem, p ast.Problem) {
	switch n := len(*list); {
	case n > check.MaxProblems:
		return
	case n == check.MaxProblems:
		p.Reason = fmt.Sprintf("there is more; the first %d are told", check.MaxProblems)
	}
	*list = append(*list, p)
}

// adopt adds what others found, who know the tree but not its document.
func (d *draft) adopt(problems, warnings []ast.Problem) {
	for _, p := range problems {
		d.tell(&d.Problems, d.problem(p.Stage, p.Line, p.Reason))
	}
	for _, w := range warnings {
		d.tell(&d.Warnings, d.problem("", w.Line, w.Reason))
	}
}

// guard does work on the document. A defect that the document brings to light
// rejects it, and costs the others nothing.
func (d *draft) guard(work func()) {
	defer func() {
		if p := recover(); p != nil {
			d.failCompile(d.Line, "cannot be processed: %v", p)
		}
	}()
	work()
}

func (d *draft) usable() bool { return len(d.Problems) == 0 }

// place names the document in a message about another one.
func (d *draft) place() string {
	if d.Number == 0 {
		return d.file
	}
	return fmt.Sprintf("%s document %d", d.file, d.Number)
}

// key names the document towards users: its id, else its title.
func (d *draft) key() string {
	if d.ID != "" {
		return d.ID
	}
	return d.Title
}

func (d *draft) kind() Kind {
	switch {
	case d.Rule != nil:
		return DetectionKind
	case d.Correlation != nil:
		return CorrelationKind
	case d.Filter != nil:
		return FilterKind
	}
	return NoKind
}

func (d *draft) rejected(digests document.Digests) Rejected {
	r := Rejected{File: d.file, Document: d.Number, Title: d.Title, ID: d.ID, Kind: d.kind(), Identity: d.Identity}
	if d.root != nil {
		r.Identity = digests.Sum(d.root)
	}
	r.Problems = slices.SortedStableFunc(slices.Values(d.Problems), func(a, b ast.Problem) int { return cmp.Compare(a.Line, b.Line) })
	return r
}
