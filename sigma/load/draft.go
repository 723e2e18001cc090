package load

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/load/document"
)

// draft is one document on its way to becoming a rule, or to being rejected.
type draft struct {
	file    string
	number  int
	root    *document.Node // as merged, nil when there is none
	raw     []byte         // stands for the content when root is nil
	title   string
	id      string
	name    string
	written map[spelling][]string // modifiers of conflicting keys, as written

	problems []sigma.Problem
	warnings []sigma.Problem

	state            state
	logsourceWritten sigma.Logsource // before pipelines

	// One of these says what the document is. None is set when it has no
	// readable form, or was excluded.
	rule        *sigma.Rule
	filter      *filter
	correlation *correlation
}

// state says whether a document is left out for another reason than its faults.
type state uint8

const (
	pending  state = iota
	excluded       // by level, id, tag or status
	skipped        // by a pipeline
)

// spelling finds the written form of a key's modifiers again after pipelines
// moved its item.
type spelling struct {
	line      int
	modifiers sigma.Modifiers
}

// newDraft takes the names of a document from its root as far as they are readable.
func newDraft(file string, number int, root *document.Node) *draft {
	d := &draft{file: file, number: number, root: root}
	if root != nil {
		d.title, _ = root.Get("title").Str()
		d.id, _ = root.Get("id").Str()
		d.name, _ = root.Get("name").Str()
	}
	return d
}

func (d *draft) problem(stage sigma.Stage, line int, reason string) sigma.Problem {
	return sigma.Problem{File: d.file, Document: d.number, Line: line, Title: d.title, ID: d.id, Stage: stage, Reason: reason}
}

// fail records a problem of reading; the document is rejected.
func (d *draft) fail(line int, format string, args ...any) {
	d.problems = append(d.problems, d.problem(sigma.StageParse, line, fmt.Sprintf(format, args...)))
}

// failCompile records a problem that is no matter of syntax.
func (d *draft) failCompile(line int, format string, args ...any) {
	d.problems = append(d.problems, d.problem(sigma.StageCompile, line, fmt.Sprintf(format, args...)))
}

func (d *draft) warn(line int, format string, args ...any) {
	d.warnings = append(d.warnings, d.problem("", line, fmt.Sprintf(format, args...)))
}

// adopt adds what Check found, which knows the rule but not its document.
func (d *draft) adopt(problems, warnings []sigma.Problem) {
	for _, p := range problems {
		d.problems = append(d.problems, d.problem(p.Stage, p.Line, p.Reason))
	}
	for _, w := range warnings {
		d.warnings = append(d.warnings, d.problem("", w.Line, w.Reason))
	}
}

func (d *draft) usable() bool { return len(d.problems) == 0 }

// place names the document in a message about another one.
func (d *draft) place() string {
	if d.number == 0 {
		return d.file
	}
	return fmt.Sprintf("%s document %d", d.file, d.number)
}

// key names the document towards users: its id, else its title.
func (d *draft) key() string {
	if d.id != "" {
		return d.id
	}
	return d.title
}

func (d *draft) rejected() Rejected {
	r := Rejected{File: d.file, Document: d.number, Title: d.title, ID: d.id, Problems: d.problems}
	slices.SortStableFunc(r.Problems, func(a, b sigma.Problem) int { return cmp.Compare(a.Line, b.Line) })
	if d.root != nil {
		r.Identity = sha256.Sum256(d.root.Canonical())
	} else {
		r.Identity = sha256.Sum256(d.raw)
	}
	return r
}
