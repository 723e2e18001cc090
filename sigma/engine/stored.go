package engine

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/sluicehq/sluice/sigma"
	"github.com/sluicehq/sluice/sigma/engine/internal/compile"
	"github.com/sluicehq/sluice/sigma/engine/internal/literal"
	"github.com/sluicehq/sluice/sigma/packed"
)

// ErrOtherOptions is returned by Restore for a set that was compiled with options
// under which the same rules give something else.
var ErrOtherOptions = errors.New("compiled with other options")

// shape names all that a compiled set depends on besides its rules.
func (o *Options) shape(rules int) string {
	return fmt.Sprintf("%d rules, detail %s, fields %q", rules, o.MatchDetail, o.names())
}

// AppendCompiled appends what compiling found out about the rules, for Restore by
// the same build.
func (s *Set) AppendCompiled(dst []byte) []byte {
	dst = packed.AppendText(dst, s.options.shape(len(s.handles)))
	dst = s.plan.Append(dst)
	for _, names := range constantSelections(s.plan, len(s.handles)) {
		dst = packed.AppendBool(dst, names != nil)
		if names != nil {
			dst = appendTexts(dst, names)
		}
	}
	choices := literal.RecordChoices()
	newMatchers(s.plan, nil, choices, nil)
	dst = binary.AppendUvarint(dst, uint64(len(choices.Offsets())))
	for _, offset := range choices.Offsets() {
		dst = binary.AppendUvarint(dst, uint64(offset))
	}
	return dst
}

func appendTexts(dst []byte, texts []string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(texts)))
	for _, s := range texts {
		dst = packed.AppendText(dst, s)
	}
	return dst
}

// Restore gives the set that Compile makes of the rules, from what AppendCompiled
// wrote of that set. It may share the memory of data. The error is
// ErrOtherOptions or wraps packed.ErrDamaged; then the rules are to be compiled.
func Restore(rules []*sigma.Rule, o Options, data string) (*Set, error) {
	r := packed.NewReader(data)
	if shape := r.Text(); shape != o.shape(len(rules)) && !r.Failed() {
		return nil, ErrOtherOptions
	}
	c := compiled{plan: compile.Read(r), constant: make([][]string, len(rules))}
	for i := range c.constant {
		if r.Bool() {
			c.constant[i] = make([]string, r.Count())
		}
		for k := range c.constant[i] {
			c.constant[i][k] = r.Text()
		}
	}
	offsets := make([]uint32, r.Count())
	for i := range offsets {
		offsets[i] = uint32(r.Uint())
	}
	c.choices = literal.GiveChoices(offsets)
	if err := r.End(); err != nil {
		return nil, err
	}
	if c.plan.Len() != len(rules) {
		return nil, fmt.Errorf("%w: a plan of %d rules for %d", packed.ErrDamaged, c.plan.Len(), len(rules))
	}
	return newSet(rules, o, &c), nil
}
