package load

import (
	"crypto/sha256"
	"errors"
	"time"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// Options say what is left out and how rules are rewritten on the way. The zero
// value loads everything as written.
type Options struct {
	MinLevel     ast.Level // LevelNone excludes nothing
	ExcludeRules []string  // entries that ParseExclusion accepts

	// Now is the time at which files are read. Only with it may a later Read or Survey
	// take over what is known of a file without reading it.
	Now time.Time

	// NoFilters leaves filter rules unmerged; they are still read and checked.
	NoFilters bool

	// Filter, when not nil, is told every usable filter, in load order.
	Filter func(*ast.Filter)

	// Transform returns a detection rule as pipelines rewrite it, and leaves the one
	// it is given as it is. It runs after
	// filters were merged and before the rule is checked, in load order, also for
	// rules that are rejected already. The rule returned is never nil. An error
	// rejects the rule, except one that wraps ErrSkip.
	Transform func(*ast.Rule) (*ast.Rule, Outcome, error)

	// TransformCorrelation does the same for correlations, after all detection
	// rules. logsources are those of the detection rules it refers to, directly or
	// through other correlations, as written and as transformed.
	TransformCorrelation func(c *ast.Correlation, logsources []ast.Logsource) (*ast.Correlation, Outcome, error)
}

// Outcome is what pipelines report of one document.
type Outcome struct {
	Applied  []string // ids of the items that acted
	Warnings []string
	// Uses names the values from outside that decided over what became of the document.
	// With other values of these it may become something else.
	Uses []string
}

// ErrSkip is wrapped by the error of a transformation that leaves a document out
// without rejecting it.
var ErrSkip = errors.New("left out by a pipeline")

// Collection is the outcome of a load. Nobody changes it afterwards.
type Collection struct {
	Rules        []*ast.Rule        // usable detection rules; the position is the load index
	Correlations []*ast.Correlation // usable correlations; the position is the correlation's index
	Filters      int                // usable filter documents
	Rejected     []Rejected         // in load order
	Warnings     []ast.Problem
	Excluded     int      // documents left out by MinLevel and ExcludeRules
	Defaults     Defaults // what attributes set for the whole engine

	dependents []dependent // in load order; nil in a collection that Compiled took rules out of
}

// WithoutRules returns what else a load gave, for those who have the rules in a form
// of their own.
func (c *Collection) WithoutRules() *Collection {
	rest := *c
	rest.Rules, rest.Correlations = nil, nil
	return &rest
}

// Defaults are the engine-wide settings that rules make by their attributes.
// They yield to flags and configuration.
type Defaults struct {
	Suppress        *timespan.Span // from sluice.suppress of detection rules, the first one wins
	Action          string         // from sluice.action likewise
	TimestampFields []string       // from sluice.timestamp_field, to stand before the configured fields
}

// Rejected is a document that is not used.
type Rejected struct {
	File     string
	Document int // 0 when the file as a whole is unreadable
	Title    string
	ID       string
	Kind     Kind
	Problems []ast.Problem // at least one, by line
	// Identity is the digest of the content: together with File and Document it
	// tells whether the same document was rejected before.
	Identity [sha256.Size]byte
}

// Kind is what a document says it is.
type Kind uint8

// The kinds of documents. NoKind is that of one which cannot be read.
const (
	NoKind Kind = iota
	DetectionKind
	CorrelationKind
	FilterKind
)

// Key identifies a rejected document across loads.
type Key struct {
	File     string
	Document int
	Identity [sha256.Size]byte
}

// Key returns the identity of the document.
func (r *Rejected) Key() Key { return Key{r.File, r.Document, r.Identity} }

// NewlyRejected returns the rejected documents of c that were not rejected in
// before, which may be nil. A reload that finds one fails.
func (c *Collection) NewlyRejected(before *Collection) []Rejected {
	known := make(map[Key]bool)
	if before != nil {
		for i := range before.Rejected {
			known[before.Rejected[i].Key()] = true
		}
	}
	var fresh []Rejected
	for _, r := range c.Rejected {
		if !known[r.Key()] {
			fresh = append(fresh, r)
		}
	}
	return fresh
}

// Usable reports whether at least one rule can be served.
func (c *Collection) Usable() bool { return len(c.Rules)+len(c.Correlations) > 0 }

// Problems returns every problem of every rejected document in the order of
// Rejected.
func (c *Collection) Problems() []ast.Problem {
	var all []ast.Problem
	for _, r := range c.Rejected {
		all = append(all, r.Problems...)
	}
	return all
}
