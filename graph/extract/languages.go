package extract

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"

	"github.com/sluicehq/sluice/graph/extract/cel"
	"github.com/sluicehq/sluice/graph/extract/jq"
	"github.com/sluicehq/sluice/graph/extract/jsonpath"
	"github.com/sluicehq/sluice/graph/extract/tree"
	"github.com/sluicehq/sluice/sigma/event"
)

// jqProgram is a program in jq.
type jqProgram struct {
	program *jq.Program
	idle    sync.Pool // of *jq.Run
}

func newJQ(expr string) (evaluator, error) {
	program, err := jq.Compile(expr, jq.WithoutEnv())
	if err != nil {
		return nil, err
	}
	return &jqProgram{program: program}, nil
}

func (p *jqProgram) run(ctx context.Context, value []byte, within bounds, out *outcome) error {
	v, err := tree.Parse(value)
	if err != nil {
		return err
	}
	r, ok := p.idle.Get().(*jq.Run)
	if !ok {
		if r, err = p.program.NewRun(); err != nil {
			return err
		}
	}
	var ended error
	r.BeginWithin(ctx, within.steps, within.memory)
	err = r.Over(v, func(v any) bool {
		ended = out.add(func(dst []byte, limit int) ([]byte, error) { return tree.Append(dst, v, limit) })
		return ended == nil
	})
	r.Begin(0) // keeps nothing of ctx
	p.idle.Put(r)
	if ended != nil {
		return ended
	}
	return err
}

// jsonPathQuery is a query in JSONPath.
type jsonPathQuery struct{ query *jsonpath.Query }

func newJSONPath(expr string) (evaluator, error) {
	query, err := jsonpath.Compile(expr)
	if err != nil {
		return nil, err
	}
	return jsonPathQuery{query}, nil
}

func (q jsonPathQuery) run(ctx context.Context, value []byte, within bounds, out *outcome) error {
	if values, err := tree.Split(nil, value, false); err != nil || len(values) != 1 {
		return tree.ErrSyntax
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, value); err != nil {
		return tree.ErrSyntax
	}
	value = compact.Bytes()
	r := q.query.NewRun()
	var ended error
	r.BeginWithin(ctx, within.steps)
	err := r.Over(value, func(v event.Value) bool {
		ended = out.add(func(dst []byte, limit int) ([]byte, error) {
			switch {
			case r.Repeated(v):
			case len(v.Raw) > limit:
				return dst, tree.ErrTooLong
			default:
				return append(dst, v.Raw...), nil
			}
			made, err := tree.ParseWithin(v.Raw, len(v.Raw))
			if err != nil {
				return dst, err
			}
			return tree.Append(dst, made, limit)
		})
		return ended == nil
	})
	if ended != nil {
		return ended
	}
	return err
}

// celExpression is an expression in CEL.
type celExpression struct{ program *cel.Program }

func newCEL(expr string) (evaluator, error) {
	program, err := cel.Compile(expr)
	if err != nil {
		return nil, err
	}
	return celExpression{program}, nil
}

func (e celExpression) run(ctx context.Context, value []byte, within bounds, out *outcome) error {
	v, err := tree.Parse(value)
	if err != nil {
		return err
	}
	return out.add(func(dst []byte, limit int) ([]byte, error) {
		return e.program.Append(ctx, dst, v, within.steps, limit)
	})
}
