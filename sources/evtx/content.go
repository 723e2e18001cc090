package evtx

import (
	"errors"
	"fmt"

	"github.com/sluicehq/sluice/sources"
)

// What reading one record and one chunk may take. A node that is read or rendered counts as
// one; records have some hundreds.
const (
	maxDepth    = 100 // of elements and fragments in each other
	recordWork  = 1 << 16
	chunkWork   = 1 << 19
	maxRendered = sources.MaxLine // bytes of a record
	chunkOutput = 16 << 20        // bytes of the records of a chunk
)

var (
	errDepth = fmt.Errorf("its content is nested more than %d deep", maxDepth)
	errWork  = fmt.Errorf("its content has more than %d pieces", recordWork)
	errChunk = fmt.Errorf("the records of its chunk have more than %d pieces", chunkWork)
	errSize  = fmt.Errorf("it is longer than %d bytes as JSON", maxRendered)
	errTotal = fmt.Errorf("the records of its chunk are longer than %d bytes as JSON", chunkOutput)
	errRoot  = errors.New("it has no element")
)

// content is what the records of a chunk are made of.
type content struct {
	bytes       []byte // the chunk
	names       *names
	definitions map[uint32]definition // of templates, by where they are

	record, templates arena
	open              []int32 // memory of the parser
	work, total       int     // left for the record and for the chunk
	output            int     // bytes left for the chunk

	renderer
}

// definition is the first node of a template, or why it cannot be read.
type definition struct {
	first int32
	err   error
}

func newContent() *content {
	return &content{
		names: newNames(), definitions: make(map[uint32]definition),
		record: arena{sign: -1}, templates: arena{sign: 1},
	}
}

// begin goes on with another chunk.
func (c *content) begin(chunk []byte) {
	c.bytes, c.total, c.output = chunk, chunkWork, chunkOutput
	clear(c.definitions)
	c.names.trim()
	c.templates.reset()
}

// spend counts work.
func (c *content) spend(n int) error {
	c.work -= n
	c.total -= n
	switch {
	case c.total < 0:
		return errChunk
	case c.work < 0:
		return errWork
	}
	return nil
}

// at returns a node, which stays where it is until the next one is added.
func (c *content) at(ref int32) *node {
	if ref < 0 {
		return &c.record.nodes[-ref]
	}
	return &c.templates.nodes[ref]
}

func (c *content) instance(ref int32) instance {
	if ref < 0 {
		return c.record.instances[-ref]
	}
	return c.templates.instances[ref]
}

// definition returns the first node of the template at a place of the chunk.
func (c *content) definition(at uint32) (int32, error) {
	if d, ok := c.definitions[at]; ok {
		return d.first, d.err
	}
	var d definition
	if int64(at)+definitionHead > int64(len(c.bytes)) {
		d.err = fmt.Errorf("it refers to a template at byte %d of the chunk, which is not there", at)
	} else {
		from := int(at) + definitionHead
		d.first, d.err = c.parse(from, min(from+definitionSize(c.bytes, int(at)), len(c.bytes)), &c.templates, true)
	}
	if d.err == errWork { //nolint:errorlint // as spend returns it: another record may afford it
		return 0, d.err
	}
	c.definitions[at] = d
	return d.first, d.err
}

// appendRecord appends the JSON of the record whose content stands between two places.
func (c *content) appendRecord(dst []byte, at, end int) ([]byte, error) {
	c.record.reset()
	c.restart()
	c.work = recordWork
	first, err := c.parse(at, end, &c.record, false)
	if err == nil {
		c.out = append(dst, '{')
		c.begun = len(dst)
		err = c.root(first)
		c.out = append(c.out, '}')
	}
	out := c.out
	c.out = nil
	switch {
	case err != nil:
		return dst, err
	case len(out)-len(dst) > maxRendered:
		return dst, errSize
	case c.output < len(out)-len(dst):
		return dst, errTotal
	}
	c.output -= len(out) - len(dst)
	return out, nil
}
