package literal

// Choices are the windows under which a build filed its literals, in the order of
// filing. With them another build of the same literals looks for no windows,
// which is most of its work. Choices that belong to other literals cost time,
// never a match.
type Choices struct {
	offsets []uint32
	next    int
	given   bool
}

// RecordChoices returns choices that a build fills.
func RecordChoices() *Choices { return new(Choices) }

// GiveChoices returns choices that a build follows.
func GiveChoices(offsets []uint32) *Choices { return &Choices{offsets: offsets, given: true} }

// Offsets returns what was chosen so far.
func (c *Choices) Offsets() []uint32 { return c.offsets }

// chooser finds windows for literals. Its choices may be nil.
type chooser struct {
	rarity  Rarity
	choices *Choices
}

// choice returns the offset chosen for a literal, if it is among those from first
// on in steps of stride where a window of size bytes stands.
func (c *chooser) choice(l Literal, first, stride, size int) (offset uint32, ok bool) {
	x := c.choices
	if x == nil || !x.given || x.next == len(x.offsets) {
		return 0, false
	}
	offset = x.offsets[x.next]
	x.next++
	at := int(offset)
	return offset, at >= first && (at-first)%stride == 0 && at+size <= len(l.Text)
}

func (c *chooser) chose(offset uint32) {
	if c.choices != nil && !c.choices.given {
		c.choices.offsets = append(c.choices.offsets, offset)
	}
}
