package cel

import (
	"context"

	"cel.dev/cel-go/common/cost"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/interpreter"
)

// prices say what a call costs in one evaluation. The library's own go by the types that
// are known when an expression is checked, and of a part of the data nothing is.
type prices struct {
	ctx     context.Context
	tracker *cost.Tracker // that asks; nil outside of evaluations
}

// allowance is what an evaluation may take.
func allowance(ctx context.Context, steps int) (*cost.Tracker, error) {
	p := &prices{ctx: ctx}
	var err error
	p.tracker, err = cost.NewTracker(p, cost.TrackerLimit(uint64(max(steps, 0))))
	return p.tracker, err
}

// creation is the name under which made values are charged.
const creation = "@made"

// byteShare is how many bytes of a text are read in a step, patternShare how many of a
// regular expression make the matching of a text cost once more, and partShare how many
// steps looking at an element or a member takes.
const (
	byteShare    = 16
	patternShare = 4
	partShare    = 8
)

// CallCost implements cost.ActualCostEstimator.
func (p *prices) CallCost(function, _ string, args []ref.Val, result ref.Val) *uint64 {
	n := uint64(1)
	switch function {
	case creation:
		n = p.weight(args[0])
	case operators.Add:
		n += p.added(args, result)
	case "matches":
		n += textSize(args[0]) / byteShare * (1 + textSize(args[1])/patternShare)
	case operators.Equals, operators.NotEquals, operators.In, operators.OldIn:
		for _, arg := range args {
			n += textSize(arg)/byteShare + partShare*size(arg)
		}
	default:
		for _, arg := range args {
			n += textSize(arg) / byteShare
		}
	}
	return &n
}

func textSize(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(len(v))
	case types.Bytes:
		return uint64(len(v))
	}
	return 0
}

// size is the number of elements or members.
func size(v ref.Val) uint64 {
	switch v := v.(type) {
	case traits.Mapper:
		return sizeOf(v)
	case traits.Lister:
		return sizeOf(v)
	}
	return 0
}

func sizeOf(v traits.Sizer) uint64 {
	if n, ok := v.Size().(types.Int); ok && n >= 0 && n < unbearable {
		return uint64(n)
	}
	return unbearable
}

// unbearable is a cost beyond all allowances.
const unbearable = 1 << 50

// added is the cost of a sum. That of two lists looks at both of them: it copies nothing,
// so that a few of them could make a list that has no end. The smaller one counts, since
// comprehensions put what they find behind what they have found.
func (p *prices) added(args []ref.Val, result ref.Val) uint64 {
	if n := textSize(result); n > 0 {
		return n / 4
	}
	if len(args) != 2 {
		return 0
	}
	smaller := args[1]
	if size(args[0]) < size(args[1]) {
		smaller = args[0]
	}
	switch size(smaller) {
	case 0:
		return 0
	case unbearable:
		return unbearable
	}
	return p.weight(smaller)
}

// weight is the cost of a walk through v.
func (p *prices) weight(v ref.Val) uint64 {
	if p.tracker == nil || p.tracker.Limit == nil {
		return 0
	}
	most := int((*p.tracker.Limit-min(*p.tracker.Limit, p.tracker.ActualCost()))/partShare) + 1
	s := &scale{ctx: p.ctx, left: most}
	s.add(v)
	if s.ended {
		return unbearable
	}
	return uint64(most-s.left) * partShare
}

// scale counts the values that one is made of, as often as each is met.
type scale struct {
	ctx   context.Context
	left  int  // that may be counted
	ended bool // the context, or nothing is left
}

// look is how many values are counted between two looks at the context.
const look = 1 << 12

func (s *scale) count(n int) {
	if s.left -= n; s.left < 0 || s.left%look == 0 && s.ctx.Err() != nil {
		s.ended = true
	}
}

func (s *scale) add(v ref.Val) {
	if s.count(1); s.ended {
		return
	}
	switch v := v.(type) {
	case traits.Mapper:
		for it := v.Iterator(); !s.ended && it.HasNext() == types.True; {
			k := it.Next()
			s.count(1)
			s.add(v.Get(k))
		}
	case traits.Lister:
		for it := v.Iterator(); !s.ended && it.HasNext() == types.True; {
			s.add(it.Next())
		}
	}
}

// weighed has what makes lists and maps charge their weight: a value that refers to one
// several times, in several levels, is small in memory, and endless to whoever walks
// through it.
func weighed(i interpreter.InterpretableV2) (interpreter.InterpretableV2, error) {
	c, ok := i.(interpreter.InterpretableConstructor)
	if !ok {
		return i, nil
	}
	for _, v := range c.InitVals() {
		if _, constant := v.(interpreter.InterpretableConst); !constant {
			return &maker{c}, nil
		}
	}
	return i, nil
}

// maker makes a list or a map.
type maker struct {
	interpreter.InterpretableConstructor
}

// Exec implements interpreter.InterpretableV2.
func (m *maker) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	v := m.InterpretableConstructor.Exec(frame)
	if tracker := frame.CostTracker(); tracker != nil && !types.IsUnknownOrError(v) {
		tracker.EvalUnary(nil, m.ID(), made{}, v, v)
	}
	return v
}

// Eval implements interpreter.Interpretable.
func (m *maker) Eval(vars interpreter.Activation) ref.Val {
	return interpreter.EvalActivation(vars, m.Exec)
}

// made is the call that made values are charged as.
type made struct{}

// Function implements cost.Call.
func (made) Function() string { return creation }

// OverloadID implements cost.Call.
func (made) OverloadID() string { return creation }

// Args implements interpreter.InterpretableCall.
func (made) Args() []interpreter.InterpretableV2 { return nil }
