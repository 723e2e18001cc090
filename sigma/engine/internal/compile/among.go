package compile

import (
	"crypto/sha256"
	"encoding/binary"
	"net/netip"
	"slices"
	"sync"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/engine/internal/literal"
	"github.com/sluicehq/sluice/sigma/event"
)

// A long list of texts, or of networks, under one field is one predicate: what it costs an
// event does not depend on how long the list is.

// minAmong is how many texts of an item become one predicate. Fewer are predicates of
// their own, which other rules may have, too.
const minAmong = 64

// oneByOne are the modifiers under which each value stands for itself.
const oneByOne = ast.Modifiers(ast.All|ast.Re|ast.FieldRef|ast.Expand|ast.Windash|ast.Exists) |
	ast.Modifiers(ast.OrderOperators|ast.TimeParts|ast.Encodings)

// Texts are what a predicate of kind Among compares with: folded, unless it is cased. They
// never change.
type Texts struct {
	List   []string
	digest string
	find   func() func(text []byte) bool // made when it is first asked for
}

// newTexts returns texts that are compared by an operator.
func newTexts(list []string, op Kind, cased bool) *Texts {
	h := sha256.New()
	var size [8]byte
	for _, s := range list {
		binary.LittleEndian.PutUint64(size[:], uint64(len(s)))
		h.Write(size[:])
		h.Write([]byte(s))
	}
	t := &Texts{List: list, digest: string(h.Sum(nil))}
	t.find = sync.OnceValue(func() func([]byte) bool {
		switch {
		case op == CIDR:
			return findNetwork(list)
		case cased:
			return findEqual(list)
		}
		b := literal.NewBuilder(rarity)
		for _, s := range list {
			AddLiteral(b, op, s, 0)
		}
		set := b.Build()
		return func(text []byte) bool {
			var met [8]uint32
			return len(set.Find(met[:0], text, true)) > 0
		}
	})
	return t
}

// findEqual compares texts as they are.
func findEqual(list []string) func(text []byte) bool {
	set := make(map[string]struct{}, len(list))
	for _, s := range list {
		set[s] = struct{}{}
	}
	return func(text []byte) bool { _, ok := set[string(text)]; return ok }
}

// findNetwork looks for an address in networks, which are in canonical form: once for
// each length that a network has.
func findNetwork(list []string) func(text []byte) bool {
	set := make(map[netip.Prefix]struct{}, len(list))
	var lengths []int
	for _, s := range list {
		net := netip.MustParsePrefix(s)
		set[net] = struct{}{}
		if !slices.Contains(lengths, net.Bits()) {
			lengths = append(lengths, net.Bits())
		}
	}
	has := func(a netip.Addr) bool {
		for _, n := range lengths {
			if net, err := a.Prefix(n); err == nil {
				if _, ok := set[net]; ok {
					return true
				}
			}
		}
		return false
	}
	return func(text []byte) bool {
		a, ok := address(text)
		return ok && (has(a) || a.Is4In6() && has(a.Unmap()))
	}
}

// AddLiteral has a builder look for texts that a literal is part of, by one of the
// operators Exact, Prefix, Suffix and Contains.
func AddLiteral(b *literal.Builder, op Kind, text string, id uint32) {
	switch op {
	case Exact:
		b.AddExact(text, id)
	case Prefix:
		b.AddPrefix(text, id)
	case Suffix:
		b.AddSuffix(text, id)
	case Contains:
		b.AddContains(text, id)
	}
}

// among makes one predicate of the plain texts of an item, when there are many of them.
// It returns the values that are left.
func (b *builder) among(it *Item, src *ast.Item, c context) []ast.Value {
	op, cased := stringOp(src.Modifiers, it.Keyword), src.Modifiers.Has(ast.Cased)
	if src.Modifiers.Has(ast.CIDR) {
		op = CIDR
	}
	if len(src.Values) < minAmong || src.Modifiers.HasAny(oneByOne) || cased && op != Exact {
		return src.Values
	}
	key := amongKey{&src.Values[0], len(src.Values), op, cased}
	l, known := b.lists[key]
	if !known {
		l = splitTexts(src.Values, op, cased)
		b.lists[key] = l
	}
	if l.texts == nil {
		return src.Values
	}
	id := b.pred(Pred{Kind: Among, Op: op, Cased: cased, Field: it.Field, Text: l.texts.digest, More: &Operand{Texts: l.texts}})
	it.add(id)
	if c.inBlock || cased || it.Keyword || op == CIDR || b.fields.List[it.Field].Virtual {
		l.texts.find() // now, not while an event waits
	}
	return l.rest
}

// amongKey is a list of values, which items may have in common, and how it is compared.
type amongKey struct {
	first *ast.Value
	n     int
	op    Kind
	cased bool
}

// list is what such a list is made of.
type list struct {
	texts *Texts // nil for too few
	rest  []ast.Value
}

func splitTexts(values []ast.Value, op Kind, cased bool) (l list) {
	texts := make([]string, 0, len(values))
	for i := range values {
		text, ok := plain(&values[i])
		switch {
		case op == CIDR:
			net, err := netip.ParsePrefix(values[i].Text)
			text, ok = net.Masked().String(), err == nil && values[i].Kind == ast.String
		case ok && !cased:
			text = event.Fold(text)
		}
		if !ok || op == Contains && !literal.CanContain(text) {
			l.rest = append(l.rest, values[i])
			continue
		}
		texts = append(texts, text)
	}
	if len(texts) >= minAmong {
		l.texts = newTexts(texts, op, cased)
	}
	return l
}

// plain returns the text of a value without wildcards.
func plain(v *ast.Value) (text string, ok bool) {
	switch {
	case v.Kind != ast.String || len(v.Parts) > 1:
		return "", false
	case len(v.Parts) == 0:
		return "", true
	}
	return v.Parts[0].Text, v.Parts[0].Kind == ast.Literal
}

// foldedAmong is the predicate that a cased one of kind Among demands.
func (b *builder) foldedAmong(p *Pred) uint32 {
	texts := make([]string, len(p.More.Texts.List))
	for i, s := range p.More.Texts.List {
		texts[i] = event.Fold(s)
	}
	t := newTexts(texts, p.Op, false)
	return b.pred(Pred{Kind: Among, Op: p.Op, Field: p.Field, Text: t.digest, More: &Operand{Texts: t}})
}

// looked is how many texts of a list say how often one of them is met.
const looked = 1000

// shareAmong estimates how often one of many texts is met in the values of a field.
func (p *profile) shareAmong(pred *Pred) float64 {
	met := 0
	list := pred.More.Texts.List
	for _, s := range list[:min(len(list), looked)] {
		met += p.count(&Pred{Kind: pred.Op, Text: s})
	}
	return min(1, float64(met)/float64(len(p.values))*4+0.01)
}
