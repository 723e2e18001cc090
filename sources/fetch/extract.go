package fetch

import (
	"context"
	"errors"
	"strings"

	"github.com/sluicehq/sluice/graph/extract"
	"github.com/sluicehq/sluice/internal/clip"
	"github.com/sluicehq/sluice/internal/document"
)

// maxExtracted is how many bytes the result of an expression may have as compact JSON.
const maxExtracted = 64 << 20

// Extract is an expression that takes what is wanted out of a value.
type Extract struct {
	Language extract.Language
	Expr     string

	program *extract.Program
	err     error // why there is no program
}

// run applies the expression. The error is an *Error, or that of ctx.
func (e *Extract) run(ctx context.Context, value []byte) ([]byte, error) {
	if e.err != nil {
		return nil, fault(ExtractFailed, "%s", e.err)
	}
	out, ok, err := e.program.Run(ctx, value, maxExtracted)
	switch {
	case errors.Is(err, extract.ErrLimit):
		return nil, fault(ResourceLimit, "extract expression: %s", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return nil, err
	case err != nil:
		return nil, fault(ExtractFailed, "%s", clip.Text(err.Error(), maxTold)) // it may show a part of the value
	case !ok:
		return nil, fault(ExtractFailed, "extract expression produced no data")
	}
	return out, nil
}

// extract reads an expression, which is jq if nothing else is said. One that cannot be
// compiled is no fault of the declaration: every fetch fails instead.
func (r *reader) extract() {
	n := r.node.Get("extract")
	if n == nil {
		return
	}
	e := &Extract{Language: extract.JQ}
	switch n.Kind {
	case document.String:
		e.Expr = n.Text
	case document.Map:
		for _, entry := range n.Entries {
			if key := keyOf(entry.Key); key != "expr" && key != "type" {
				r.warn(entry.Key.Line, "source '%s': the unknown key '%s' of extract is ignored", r.d.ID, key)
			}
		}
		var ok bool
		if e.Expr, ok = n.Get("expr").Str(); !ok {
			r.bad("extract", ": extract must have an 'expr' field with a text")
			return
		}
		if kind := n.Get("type"); kind != nil {
			var err error
			if e.Language, err = extract.ParseLanguage(keyOf(kind)); err != nil {
				r.bad("extract", ": %s", err)
				return
			}
		}
	default:
		r.bad("extract", ": extract is an expression, or a mapping with 'expr' and 'type'")
		return
	}
	if e.program, e.err = extract.Compile(e.Language, e.Expr); e.err != nil {
		r.warn(n.Line, "source '%s': the extract expression does not compile, so that every fetch fails: %s", r.d.ID, strings.TrimSpace(e.err.Error()))
	}
	r.d.Extract = e
}
