package compile

import (
	"net/netip"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// Kind is what a predicate asks of a field.
type Kind uint8

// The kinds. Present and IsNull ask about the field as a whole; the others hold
// when one of the field's values satisfies them.
const (
	Present  Kind = iota // the field resolves, to whatever
	IsNull               // its only value is null
	Exact                // the text form equals Text
	Prefix               // ... begins with Text
	Suffix               // ... ends with Text
	Contains             // ... contains Text
	Glob                 // ... matches a pattern with wildcards
	Among                // ... equals, begins with, ends with or contains one of many texts, or is in one of many networks; Op says which
	Regex                // ... matches a regular expression
	CIDR                 // ... is an address of a network
	Equal                // the numeric form equals a number
	Greater
	GreaterEqual
	Less
	LessEqual
	IsTrue // boolean comparison
	IsFalse
	TimePart // a part of a timestamp equals a number
	FieldRef // compares with the values of another field
	RefUsable
	Expand // compares with a template filled from the event
	ExpandUsable
	AnyOf  // one of the text predicates in Gates; Op is their kind
	Block  // an array block
	Shared // an expression that several rules, or several places of one, ask for
	Free   // none: a number that no predicate has
)

// Pred is a predicate. Equal predicates of all rules are one.
type Pred struct {
	Kind   Kind
	Op     Kind // FieldRef, Expand and Among: Exact, Prefix, Suffix or Contains; Among also CIDR
	Cased  bool
	Early  bool   // known when all values were looked at; else asked for when needed
	Direct bool   // Early, but no index finds it: every value is evaluated
	Field  uint32 // the field asked about
	Text   string // the operand, folded unless Cased; for other kinds what tells them apart
	More   *Operand
}

// Operand holds what only some kinds need.
type Operand struct {
	Glob     *Pattern
	Texts    *Texts
	Regex    *Expression
	Net      netip.Prefix
	Number   event.Numeric
	Part     ast.Modifier
	Ref      uint32 // FieldRef: the other field
	Template []Piece
	Block    *ArrayBlock
	Expr     *Expr    // Shared
	Program  int32    // Shared: where its program begins
	Gates    []uint32 // predicates of which one must hold for this one to hold; nil for none known
}

// Piece is a part of a template: text, or the value of a field.
type Piece struct {
	Text  string
	Field uint32 // 0 for text
}

// IsText reports whether the predicate depends on a value's text form alone.
func (p *Pred) IsText() bool { return Exact <= p.Kind && p.Kind <= CIDR }

type predKey struct {
	kind  Kind
	op    Kind
	cased bool
	field uint32
	text  string
}

func (p *Pred) key() predKey { return predKey{p.Kind, p.Op, p.Cased, p.Field, p.Text} }

// pred returns the number of the predicate, making it when it is new.
func (b *builder) pred(p Pred) uint32 {
	k := p.key()
	if id, ok := b.ids[k]; ok {
		return id
	}
	id := b.place(p)
	b.ids[k] = id
	return id
}

// place gives a predicate a number: one that is free, or the next.
func (b *builder) place(p Pred) uint32 {
	if n := len(b.free); n > 0 {
		id := b.free[n-1]
		b.free, b.preds[id] = b.free[:n-1], p
		return id
	}
	b.preds = append(b.preds, p)
	return uint32(len(b.preds) - 1)
}
