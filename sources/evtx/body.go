package evtx

// body is where the members of an object are counted.
type body struct {
	number int32
	base   int // of its counts
}

// children renders the elements among the items from number base on as members of an object,
// which begins at begun. The Data elements of an event are members named by their attribute
// Name; those without one are a member together.
func (c *content) children(base, begun int, ofEvent bool) error {
	top := len(c.items)
	b := body{c.bodies, len(c.counts)}
	c.bodies++
	unnamed := false // have been rendered
	for i := base; i < top; i++ {
		if c.items[i].form != element {
			continue
		}
		if c.full() {
			return errSize
		}
		if !ofEvent || c.at(c.items[i].ref).name.role != data {
			c.comma(begun)
			n := c.at(c.items[i].ref).name
			c.key(n, c.repeated(b, n))
			if err := c.element(i, false); err != nil {
				return err
			}
			continue
		}
		key, err := c.keyOf(i)
		if err != nil {
			return err
		}
		switch {
		case key != nil:
			c.comma(begun)
			c.key(key, c.repeated(b, key))
			i, err = c.named(i, top, key)
		case !unnamed:
			unnamed = true
			c.comma(begun)
			err = c.unnamed(i, top)
		}
		if err != nil {
			return err
		}
	}
	c.counts = c.counts[:b.base]
	return nil
}

// repeated counts a key of a body and returns how often it has been before.
func (c *content) repeated(b body, n *name) int {
	for i := b.base; i < len(c.counts); i++ {
		if c.counts[i].name == n {
			c.counts[i].n++
			return c.counts[i].n - 1
		}
	}
	if len(c.counts)-b.base < fewKeys {
		c.counts = append(c.counts, count{n, 1})
		return 0
	}
	if c.many == nil {
		c.many = make(map[countKey]int)
	}
	key := countKey{b.number, n}
	before := c.many[key]
	c.many[key] = before + 1
	return before
}

// keyOf returns the key of a Data element, nil when it has no Name.
func (c *content) keyOf(i int) (*name, error) {
	it := c.items[i]
	n := c.at(it.ref)
	if n.key != nil {
		return n.key, nil
	}
	for ref := n.attrs; ref != 0; {
		a := *c.at(ref)
		ref = a.next
		if a.name.role != called {
			continue
		}
		base, from := len(c.items), len(c.out)
		if err := c.collect(a.first, it.scope, it.array); err != nil {
			return nil, err
		}
		c.plain(base)
		var key *name
		if len(c.out) > from {
			key = c.names.text(c.out[from:])
		}
		c.items, c.out = c.items[:base], c.out[:from]
		return key, nil
	}
	return nil, nil
}

// named renders the value of the Data element i. The values of those behind it that have the
// same key make an array with it: a template that puts an array in repeats the element. It
// returns the number of the last one.
func (c *content) named(i, top int, key *name) (last int, err error) {
	from := len(c.out)
	if err := c.element(i, true); err != nil {
		return i, err
	}
	last = i
	for j := i + 1; j < top; j++ {
		if c.items[j].form != element || c.at(c.items[j].ref).name.role != data {
			break
		}
		next, err := c.keyOf(j)
		if err != nil {
			return j, err
		}
		if next != key {
			break
		}
		if last == i {
			c.out = append(c.out, 0)
			copy(c.out[from+1:], c.out[from:])
			c.out[from] = '['
		}
		c.out = append(c.out, ',')
		if err := c.element(j, true); err != nil {
			return j, err
		}
		last = j
	}
	if last > i {
		c.out = append(c.out, ']')
	}
	return last, nil
}

// unnamed renders the Data elements without a Name, of which i is the first.
func (c *content) unnamed(i, top int) error {
	c.out = append(c.out, `"Data":{"#text":`...)
	from := len(c.out)
	if err := c.element(i, true); err != nil {
		return err
	}
	several := false
	for j := i + 1; j < top; j++ {
		if c.items[j].form != element || c.at(c.items[j].ref).name.role != data {
			continue
		}
		key, err := c.keyOf(j)
		if err != nil {
			return err
		}
		if key != nil {
			continue
		}
		if !several {
			several = true
			c.out = append(c.out, 0)
			copy(c.out[from+1:], c.out[from:])
			c.out[from] = '['
		}
		c.out = append(c.out, ',')
		if err := c.element(j, true); err != nil {
			return err
		}
	}
	if several {
		c.out = append(c.out, ']')
	}
	c.out = append(c.out, '}')
	return nil
}
