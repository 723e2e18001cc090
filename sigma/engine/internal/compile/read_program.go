package compile

func (r *reader) tests() {
	p := r.plan
	p.Always = r.list(len(p.trees))
	words := (len(p.Preds) + 63) / 64
	p.Tests = make([]Test, r.Count())
	for i := range p.Tests {
		p.Tests[i] = Test{Word: r.Below(words), Mask: r.Fixed()}
	}
	if n := r.Count(); n > 0 {
		p.Branches = make([]int32, n)
	}
	for i := range p.Branches {
		p.Branches[i] = int32(r.Int())
	}
}

// programs reads code that leads to earlier code only, as it was emitted, so that
// every program ends.
func (r *reader) programs() {
	p := r.plan
	p.Code = make([]Instr, r.Count())
	for i := range p.Code {
		x := &p.Code[i]
		*x = Instr{Op: Code(r.Byte()), A: uint32(r.Uint()), B: uint32(r.Uint()), Yes: r.target(i), No: r.target(i)}
		if !r.operands(x, i) {
			r.Fail()
		}
		if r.Failed() {
			return
		}
	}
	p.Programs = make([]int32, len(p.trees))
	for i := range p.Programs {
		p.Programs[i] = r.target(len(p.Code))
	}
}

// target reads where to go on: before an instruction, or an end.
func (r *reader) target(before int) int32 {
	n := r.Int()
	if n < int64(Fails) || n >= int64(before) {
		r.Fail()
		return Fails
	}
	return int32(n)
}

// operands reports whether an instruction stays inside the lists.
func (r *reader) operands(x *Instr, at int) bool {
	p := r.plan
	switch x.Op {
	case TestAny, TestAll:
		return x.A <= x.B && int(x.B) <= len(p.Tests)
	case Ask:
		return int(x.A) < len(p.Preds)
	case Has:
		return int(x.A) < len(p.Fields.List)
	case Count:
		if int(x.B) >= len(p.Branches) {
			return false
		}
		list := p.Branches[x.B:]
		if list[0] < 0 || int(list[0]) >= len(list) {
			return false
		}
		for _, start := range list[1 : 1+list[0]] {
			if start < Fails || int(start) >= at {
				return false
			}
		}
		return true
	}
	return false
}
