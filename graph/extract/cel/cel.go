package cel

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/interpreter"
)

// MaxExpression is how long the text of an expression may be.
const MaxExpression = 64 << 10

// maxNesting is how deep an expression may be nested: checking the types of one takes far
// longer the deeper it is.
const maxNesting = 50

// ErrSteps ends an evaluation that goes beyond its bounds.
var ErrSteps = errors.New("the expression takes too many steps")

// variable is what expressions call the value.
const variable = "data"

// often is how many rounds of a comprehension pass between two looks at the context: one
// may take long.
const often = 1

// Program is an expression that was understood. Any number of goroutines may use it.
type Program struct{ program cel.Program }

// environment is what expressions may use.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	return cel.NewEnv(
		cel.Variable(variable, cel.DynType),
		cel.CrossTypeNumericComparisons(true),
		cel.DefaultUTCTimeZone(true),
		cel.ParserExpressionSizeLimit(MaxExpression),
		cel.ParserRecursionLimit(maxNesting),
	)
})

// Compile understands an expression and checks its types.
func Compile(text string) (p *Program, err error) {
	defer hashed(&err)
	if len(text) > MaxExpression {
		return nil, fmt.Errorf("the expression is longer than %d bytes", MaxExpression)
	}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	checked, issues := env.Compile(text)
	if all := issues.Errors(); len(all) > 0 {
		return nil, located(all[0], strings.Contains(text, "\n"))
	}
	program, err := env.Program(checked,
		cel.EvalOptions(cel.OptOptimize), cel.InterruptCheckFrequency(often),
		cel.CostTracking(&prices{}), cel.CustomDecoratorV2(weighed))
	if err != nil {
		return nil, err
	}
	return &Program{program}, nil
}

var errKey = errors.New("a key of a map is neither a bool, an int, a uint nor a string")

// unhashable reports whether the library panicked because of such a key, such as one of
// bytes. While it evaluates, it makes an error of a panic, and not while it compiles.
func unhashable(message string) bool {
	return strings.Contains(message, "runtime error: hash of unhashable type")
}

// hashed makes an error of such a panic.
func hashed(err *error) {
	if r := recover(); r != nil {
		if fault, ok := r.(runtime.Error); !ok || !unhashable(fault.Error()) {
			panic(r)
		}
		*err = errKey
	}
}

// located says what is wrong with an expression, and where.
func located(fault *cel.Error, lines bool) error {
	message, _, _ := strings.Cut(fault.Message, " (in container '')")
	message = strings.TrimPrefix(message, "Syntax error: ")
	switch at := fault.Location; {
	case at.Line() < 1 || at.Column() < 0:
		return errors.New(message)
	case lines:
		return fmt.Errorf("%s in line %d at character %d", message, at.Line(), at.Column()+1)
	default:
		return fmt.Errorf("%s at character %d", message, at.Column()+1)
	}
}

// Append evaluates the expression over v, in at most so many steps, and appends the
// compact JSON of the outcome to dst, at most limit bytes of it. It takes v over, which is
// as package tree reads it.
//
// Beside what is wrong with the evaluation the error is ErrSteps, that of ctx, or
// tree.ErrTooLong or tree.ErrTooDeep for the outcome. Then dst is as it was.
func (p *Program) Append(ctx context.Context, dst []byte, v any, steps, limit int) ([]byte, error) {
	tracker, err := allowance(ctx, steps)
	if err != nil {
		return dst, err
	}
	frame, err := interpreter.NewExecutionFrame(map[string]any{variable: typed(v)})
	if err != nil {
		return dst, err
	}
	defer frame.Close()
	if err := frame.SetContext(ctx, often); err != nil {
		return dst, err
	}
	frame.SetCostTracker(tracker)
	outcome, _, err := p.program.Eval(frame)
	if err == nil {
		return appendJSON(ctx, dst, outcome, limit)
	}
	var ended interpreter.EvalCancelledError
	switch {
	case ctx.Err() != nil:
		return dst, ctx.Err()
	case errors.As(err, &ended) && ended.Cause == interpreter.CostLimitExceeded:
		return dst, ErrSteps
	case unhashable(err.Error()):
		return dst, errKey
	}
	return dst, err
}
