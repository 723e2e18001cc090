package evtx

import "strconv"

// renderer is the state of rendering a record.
type renderer struct {
	out    []byte
	begun  int // where the record begins in out
	depth  int
	items  []item
	scopes []scope
	bodies int32
	counts []count
	many   map[countKey]int
}

// item is a child of an element, where templates and fragments have been put in.
type item struct {
	form  form
	ref   int32 // of an element
	scope int32 // of an element
	array arrayItem
	name  *name // of an entity
	value value
}

// arrayItem says which item of an array an element is repeated for: of the array that is
// substitution number of-1 it has value. The zero value is for none.
type arrayItem struct {
	of    uint32
	value value
}

// scope are the values that substitutions refer to.
type scope struct{ values []value }

// count is how often a key has been written in a body.
type count struct {
	name *name
	n    int
}

type countKey struct {
	body int32
	name *name
}

// fewKeys is how many keys of a body are looked up one by one.
const fewKeys = 48

func (r *renderer) restart() {
	r.depth, r.items, r.bodies, r.counts = 0, r.items[:0], 0, r.counts[:0]
	r.scopes = append(r.scopes[:0], scope{})
	if len(r.many) > 0 {
		clear(r.many)
	}
}

// root renders the first element of a record as a member.
func (c *content) root(first int32) error {
	if err := c.collect(first, 0, arrayItem{}); err != nil {
		return err
	}
	for i := range c.items {
		if c.items[i].form == element {
			c.key(c.at(c.items[i].ref).name, 0)
			return c.element(i, false)
		}
	}
	return errRoot
}

// collect appends the items that a list of nodes leaves.
func (c *content) collect(first, in int32, array arrayItem) error {
	for next := first; next != 0; {
		n := *c.at(next)
		ref := next
		next = n.next
		if err := c.spend(1); err != nil {
			return err
		}
		var err error
		switch n.form {
		case element:
			err = c.repeat(ref, &n, in)
		case text:
			err = c.value(n.value, in)
		case substitution:
			err = c.substitute(&n, in, array)
		case template:
			err = c.put(c.instance(n.instance))
		default:
			c.items = append(c.items, item{form: n.form, name: n.name, value: n.value})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// substitute appends what a value leaves.
func (c *content) substitute(n *node, in int32, array arrayItem) error {
	number := n.value.at
	if array.of == number+1 {
		return c.value(array.value, in)
	}
	if values := c.scopes[in].values; int(number) < len(values) {
		return c.value(values[number], in)
	}
	return nil
}

// value appends the items of a value: those of a fragment, or a text that is not empty.
func (c *content) value(v value, in int32) error {
	if v.empty(c.bytes) {
		return nil
	}
	if v.kind != fragment {
		c.items = append(c.items, item{form: text, value: v})
		return nil
	}
	if c.depth >= maxDepth {
		return errDepth
	}
	first, err := c.parse(int(v.at), int(v.at+v.size), &c.record, false)
	if err != nil {
		return err
	}
	c.depth++
	err = c.collect(first, in, arrayItem{})
	c.depth--
	return err
}

// put appends the items of a template with its values.
func (c *content) put(i instance) error {
	if c.depth >= maxDepth {
		return errDepth
	}
	first, err := c.definition(i.at)
	if err != nil {
		return err
	}
	c.scopes = append(c.scopes, scope{i.values})
	c.depth++
	err = c.collect(first, int32(len(c.scopes)-1), arrayItem{})
	c.depth--
	return err
}

// repeat appends an element: once, or once for each item of an array in it.
func (c *content) repeat(ref int32, n *node, in int32) error {
	if n.varies {
		if of, v := c.arrayIn(n, in); of > 0 {
			for v.size > 0 {
				if err := c.spend(1); err != nil {
					return err
				}
				var first value
				first, v = v.item(c.bytes)
				c.items = append(c.items, item{form: element, ref: ref, scope: in, array: arrayItem{of, first}})
			}
			return nil
		}
	}
	c.items = append(c.items, item{form: element, ref: ref, scope: in})
	return nil
}

// arrayIn returns the first array of several items that is a child or in an attribute of an
// element, with the number of its substitution plus one.
func (c *content) arrayIn(n *node, in int32) (of uint32, v value) {
	values := c.scopes[in].values
	among := func(first int32) bool {
		for ref := first; ref != 0; ref = c.at(ref).next {
			if s := c.at(ref); s.form == substitution && int(s.value.at) < len(values) {
				if v = values[s.value.at]; v.kind&array != 0 && v.size > 0 {
					if _, rest := v.item(c.bytes); rest.size > 0 {
						of = s.value.at + 1
						return true
					}
				}
			}
		}
		return false
	}
	if among(n.first) {
		return of, v
	}
	for a := n.attrs; a != 0; a = c.at(a).next {
		if among(c.at(a).first) {
			return of, v
		}
	}
	return 0, value{}
}

// element renders the value of an element, which is an item. That of a Data element of an
// event has no attributes, and is never null.
func (c *content) element(i int, ofData bool) error {
	if c.depth >= maxDepth {
		return errDepth
	}
	if c.full() {
		return errSize
	}
	it := c.items[i]
	n := *c.at(it.ref)
	base := len(c.items)
	if err := c.collect(n.first, it.scope, it.array); err != nil {
		return err
	}
	c.depth++
	defer func() { c.depth, c.items = c.depth-1, c.items[:base] }()
	texts, elements := 0, 0
	for j := base; j < len(c.items); j++ {
		if c.items[j].form == element {
			elements++
		} else {
			texts++
		}
	}
	from := len(c.out)
	c.out = append(c.out, '{')
	begun := len(c.out)
	if n.attrs != 0 && !ofData {
		if err := c.attributes(n.attrs, it); err != nil {
			return err
		}
	}
	if len(c.out) == begun && elements == 0 {
		c.out = c.out[:from]
		switch {
		case texts > 0:
			c.text(base)
		case ofData:
			c.out = append(c.out, `""`...)
		default:
			c.out = append(c.out, "null"...)
		}
		return nil
	}
	if texts > 0 {
		c.comma(begun)
		c.out = append(c.out, `"#text":`...)
		c.text(base)
	}
	if elements > 0 {
		if err := c.children(base, begun, n.name.role == container && !ofData); err != nil {
			return err
		}
	}
	c.out = append(c.out, '}')
	return nil
}

// full reports whether the record is too long.
func (r *renderer) full() bool { return len(r.out)-r.begun > maxRendered }

// comma separates a member from the one before, if the object has any.
func (c *content) comma(begun int) {
	if len(c.out) > begun {
		c.out = append(c.out, ',')
	}
}

// attributes renders the attributes of an element that are not empty.
func (c *content) attributes(first int32, of item) error {
	from := len(c.out)
	c.out = append(c.out, `"#attributes":{`...)
	begun := len(c.out)
	for ref := first; ref != 0; {
		if c.full() {
			return errSize
		}
		n := *c.at(ref)
		ref = n.next
		base := len(c.items)
		if err := c.collect(n.first, of.scope, of.array); err != nil {
			return err
		}
		if len(c.items) > base {
			c.comma(begun)
			c.key(n.name, 0)
			c.text(base)
		}
		c.items = c.items[:base]
	}
	if len(c.out) == begun {
		c.out = c.out[:from]
		return nil
	}
	c.out = append(c.out, '}')
	return nil
}

// text renders the items from number base on that are no elements: a number or a boolean that
// stands alone as such, all else as a string.
func (c *content) text(base int) {
	only := -1
	for i := base; i < len(c.items); i++ {
		if c.items[i].form == element {
			continue
		}
		if only >= 0 {
			only = -1
			break
		}
		only = i
	}
	if only >= 0 {
		if v := c.items[only].value; c.items[only].form == text && v.kind.bare() && v.whole() {
			c.out = v.appendText(c.out, c.bytes)
			return
		}
	}
	c.out = append(c.out, '"')
	c.plain(base)
	c.out = append(c.out, '"')
}

// plain renders the text of the items from number base on, until the record is too long.
func (c *content) plain(base int) {
	for i := base; i < len(c.items) && !c.full(); i++ {
		switch it := &c.items[i]; it.form {
		case text:
			c.out = it.value.appendText(c.out, c.bytes)
		case character:
			c.out = appendRune(c.out, rune(it.value.at))
		case entity:
			c.out = appendEntity(c.out, it.name.text)
		}
	}
}

var entities = map[string]byte{"quot": '"', "apos": '\'', "amp": '&', "lt": '<', "gt": '>'}

func appendEntity(dst []byte, name string) []byte {
	if b, ok := entities[name]; ok {
		return appendRune(dst, rune(b))
	}
	return append(append(append(dst, '&'), name...), ';')
}

// key renders a key, with a suffix when it is not the first of its name.
func (c *content) key(n *name, repeated int) {
	c.out = append(append(c.out, '"'), n.text...)
	if repeated > 0 {
		c.out = strconv.AppendInt(append(c.out, '_'), int64(repeated), 10)
	}
	c.out = append(c.out, '"', ':')
}
