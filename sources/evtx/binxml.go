package evtx

import (
	"encoding/binary"
	"fmt"
)

// The tokens of binary XML. Those with more behind them in the same place have moreFollows.
const (
	tokenEnd           = 0x00
	tokenOpen          = 0x01
	tokenCloseStart    = 0x02
	tokenCloseEmpty    = 0x03
	tokenClose         = 0x04
	tokenValue         = 0x05
	tokenAttribute     = 0x06
	tokenCData         = 0x07
	tokenCharacter     = 0x08
	tokenEntity        = 0x09
	tokenTarget        = 0x0a // of a processing instruction
	tokenInstruction   = 0x0b
	tokenTemplate      = 0x0c
	tokenSubstitution  = 0x0d
	tokenOptional      = 0x0e
	tokenFragmentStart = 0x0f

	moreFollows = 0x40
)

// parser makes nodes of binary XML. It is the state of one fragment.
type parser struct {
	*content
	cursor
	arena      *arena
	dependency bool // elements have a dependency identifier, as in the definitions of templates

	root, rootLast int32   // the first and the last node of the fragment
	added          int32   // the last node
	open           []int32 // elements
	start          bool    // in the start tag of the last of them
	attr           int32   // in hand
	fault          error   // of a name
}

// parse makes nodes of the fragment between two places and returns the first.
func (c *content) parse(at, end int, a *arena, dependency bool) (int32, error) {
	if err := c.spend((end - at) / 8); err != nil {
		return 0, err
	}
	p := parser{content: c, cursor: cursor{data: c.bytes, pos: at, end: end}, arena: a, dependency: dependency, open: c.open[:0]}
	err := p.run()
	c.open = p.open[:0]
	return p.root, err
}

func (p *parser) run() error {
	for p.pos < p.end {
		at := p.pos
		token := p.u8()
		if token == tokenEnd {
			break
		}
		err := p.token(token)
		if p.fault != nil {
			return p.fault
		}
		if p.short {
			return fmt.Errorf("its content ends too early, in the piece at byte %d of the chunk", at)
		}
		if err != nil {
			return err
		}
	}
	if n := len(p.open); n > 0 {
		return fmt.Errorf("its element %s has no end", p.at(p.open[n-1]).name.text)
	}
	return nil
}

func (p *parser) token(token uint8) error {
	switch token {
	case tokenOpen, tokenOpen | moreFollows:
		return p.openElement(token&moreFollows != 0)
	case tokenCloseStart:
		p.start, p.attr = false, 0
	case tokenCloseEmpty, tokenClose:
		if len(p.open) == 0 {
			return p.misplaced("the end of an element")
		}
		p.finish(p.open[len(p.open)-1])
		p.open, p.start, p.attr = p.open[:len(p.open)-1], false, 0
	case tokenValue, tokenValue | moreFollows:
		return p.literal()
	case tokenAttribute, tokenAttribute | moreFollows:
		return p.attribute()
	case tokenCData, tokenCData | moreFollows:
		size := int(p.u16()) * 2
		return p.add(node{form: text, value: value{at: uint32(p.take(size)), size: uint32(size), kind: unicode}})
	case tokenCharacter, tokenCharacter | moreFollows:
		return p.add(node{form: character, value: value{at: uint32(p.u16())}})
	case tokenEntity, tokenEntity | moreFollows:
		return p.add(node{form: entity, name: p.name()})
	case tokenTarget:
		p.name()
	case tokenInstruction:
		p.take(int(p.u16()) * 2)
	case tokenTemplate:
		return p.template()
	case tokenSubstitution, tokenOptional:
		n := node{form: substitution, optional: token == tokenOptional, value: value{at: uint32(p.u16())}}
		p.u8() // its type is that of the value
		return p.add(n)
	case tokenFragmentStart:
		p.take(3) // version and flags
	default:
		return fmt.Errorf("it has a piece of unknown type 0x%02x at byte %d of the chunk", token, p.pos-1)
	}
	return nil
}

func (p *parser) misplaced(what string) error {
	return fmt.Errorf("it has %s at byte %d of the chunk, where none can be", what, p.pos)
}

func (p *parser) openElement(attributes bool) error {
	if p.start {
		return p.misplaced("an element")
	}
	if p.dependency {
		p.u16()
	}
	p.u32() // size
	n := node{form: element, name: p.name()}
	if attributes {
		p.u32() // their size
	}
	if err := p.add(n); err != nil || p.short {
		return err
	}
	if len(p.open) >= maxDepth {
		return errDepth
	}
	p.open, p.start, p.attr = append(p.open, p.added), true, 0
	return nil
}

func (p *parser) attribute() error {
	if !p.start {
		return p.misplaced("an attribute")
	}
	n := node{form: attribute, name: p.name()}
	if err := p.spend(1); err != nil || p.short {
		return err
	}
	p.attr = p.arena.add(n)
	of := p.at(p.open[len(p.open)-1])
	if of.attrs == 0 {
		of.attrs = p.attr
	} else {
		p.at(of.lastAttr).next = p.attr
	}
	of.lastAttr = p.attr
	return nil
}

// add appends a node to what is open.
func (p *parser) add(n node) error {
	if p.short {
		return nil
	}
	if p.start && p.attr == 0 {
		return p.misplaced("text inside a start tag")
	}
	if err := p.spend(1); err != nil {
		return err
	}
	ref := p.arena.add(n)
	var parent int32
	switch {
	case p.start:
		parent = p.attr
	case len(p.open) > 0:
		parent = p.open[len(p.open)-1]
	}
	switch {
	case parent == 0 && p.root == 0:
		p.root = ref
	case parent == 0:
		p.at(p.rootLast).next = ref
	default:
		of := p.at(parent)
		if of.first == 0 {
			of.first = ref
		} else {
			p.at(of.last).next = ref
		}
		of.last = ref
	}
	if parent == 0 {
		p.rootLast = ref
	}
	p.added = ref
	if n.form == substitution && len(p.open) > 0 {
		p.at(p.open[len(p.open)-1]).varies = true
	}
	return nil
}

// finish ends an element. The key of a Data element that is no substitution is looked up once
// for all records of a template.
func (p *parser) finish(ref int32) {
	of := p.at(ref)
	if of.name.role != data {
		return
	}
	for a := of.attrs; a != 0; a = p.at(a).next {
		n := p.at(a)
		if n.name.role != called || n.first == 0 || n.first != n.last {
			continue
		}
		if only := p.at(n.first); only.form == text && only.value.kind == unicode && !only.value.empty(p.bytes) {
			of.key = p.names.utf16(untilNUL(only.value.bytes(p.bytes)))
		}
	}
}

// literal adds a value that stands in the text.
func (p *parser) literal() error {
	v := value{kind: kind(p.u8())}
	switch size := v.kind.fixed(); {
	case v.kind == null:
		return nil
	case size > 0:
		v.size = size
	case v.kind == unicode:
		v.size = 2 * uint32(p.u16())
	case v.kind == ansi, v.kind == binaryData, v.kind == fragment:
		v.size = uint32(p.u16())
	default:
		return fmt.Errorf("it has a text of type 0x%02x at byte %d of the chunk, whose length is not known", v.kind, p.pos-1)
	}
	v.at = uint32(p.take(int(v.size)))
	return p.add(node{form: text, value: v})
}

// name reads where a name is and looks it up. The name itself follows where it is used first.
func (p *parser) name() *name {
	at := int(p.u32())
	if at == p.pos {
		p.take(nameHead - 2)
		p.take(2*int(p.u16()) + 2)
	}
	c := cursor{data: p.bytes, pos: min(at, len(p.bytes)), end: len(p.bytes)}
	c.take(nameHead - 2)
	size := 2 * int(c.u16())
	from := c.take(size)
	if c.short && !p.short && p.fault == nil {
		p.fault = fmt.Errorf("it refers to a name at byte %d of the chunk, which is not there", at)
	}
	if c.short || p.short {
		return noName
	}
	return p.names.utf16(untilNUL(p.bytes[from : from+size]))
}

// nameHead is what precedes the characters of a name: the next one, a hash and their number.
const nameHead = 8

var noName = new(name)

// template adds an instance of a template with its values.
func (p *parser) template() error {
	p.take(5) // unknown, and the identifier of the definition
	in := instance{at: p.u32()}
	if int(in.at) == p.pos {
		head := p.take(definitionHead)
		if p.short {
			return nil
		}
		p.take(definitionSize(p.bytes, head))
	}
	count := p.u32()
	if p.short || int64(count)*4 > int64(p.end-p.pos) {
		p.short = true
		return nil
	}
	if err := p.spend(int(count) / 4); err != nil {
		return err
	}
	types := cursor{data: p.bytes, pos: p.take(4 * int(count)), end: p.pos}
	values := p.arena.reserve(int(count))
	for range count {
		v := value{size: uint32(types.u16()), kind: kind(types.u8())}
		types.u8()
		v.at = uint32(p.take(int(v.size)))
		values = append(values, v)
	}
	in.values = values
	return p.add(node{form: template, instance: p.arena.addInstance(in)})
}

// definitionHead is what precedes the content of the definition of a template: the next one,
// a GUID and the size of the content.
const definitionHead = 24

// definitionSize is the size of the content of a definition, bounded by that of a chunk.
func definitionSize(chunk []byte, head int) int {
	return int(min(binary.LittleEndian.Uint32(chunk[head+20:]), chunkSize))
}

// untilNUL cuts a text in UTF-16 off at the first NUL.
func untilNUL(b []byte) []byte {
	for i := 0; i+1 < len(b); i += 2 {
		if b[i] == 0 && b[i+1] == 0 {
			return b[:i]
		}
	}
	return b[:len(b)&^1]
}
