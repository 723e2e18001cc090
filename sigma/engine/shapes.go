package engine

import (
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// Shape is one of the ways in which Windows records reach programs. They differ in what
// their fields are called, so that rules written for one find nothing in another.
type Shape uint8

// The shapes. NoShape stands for events that show none of them.
const (
	NoShape   Shape = iota
	Rendered        // event records as JSON: Event.System, Event.EventData
	Shipped         // those of Winlogbeat and Elastic Agent: winlog.event_data
	Flat            // EventID, Channel and the rest side by side
	traced          // those of Fibratus, which no event is told by: ps.exe, evt.name
	NumShapes       // how many there are
)

// shapeFields tell shapes by fields that all their events have.
var shapeFields = [NumShapes][]string{
	Rendered: {"Event.System", "Event.System.EventID"},
	Shipped:  {"winlog.event_data", "winlog.channel", "winlog.event_id"},
}

// Shape returns the shape of event i. It walks the event, so it is for a few events
// among many.
func (ev *Events) Shape(i int) Shape {
	root := ev.list[i].value()
	for shape, fields := range shapeFields {
		for _, name := range fields {
			p := event.ParsePath(name, 0)
			if len(p.Resolve(nil, root, false)) > 0 {
				return Shape(shape)
			}
		}
	}
	if firstText(root, "EventID") != "" && firstText(root, "Channel", "Provider_Name", "SourceName") != "" {
		return Flat
	}
	return NoShape
}

// shapeOf is the shape that has a field of such a name; fields of Elastic's schema count
// as Shipped.
func shapeOf(field string) Shape {
	switch {
	case !strings.Contains(field, "."):
		return Flat
	case strings.HasPrefix(field, "Event."):
		return Rendered
	case slices.ContainsFunc(tracedObjects[:], func(o string) bool { return strings.HasPrefix(field, o) }):
		return traced
	}
	return Shipped
}

// tracedObjects are what Fibratus has fields of and Elastic's schema has not.
var tracedObjects = [...]string{"ps.", "evt.", "kevt.", "net.", "thread.", "image.", "module.", "dll.", "handle."}

// readers are the rules that Windows records may meet by their fields, and what these
// fields are called.
type readers struct {
	rules  []uint64 // bits, by load index
	shaped [NumShapes]int
	all    int
}

// meetsRecords reports whether a rule of this log source is about Windows records. One
// that names none may be; one that names a category alone, such as webserver, hardly is.
func meetsRecords(l ast.Logsource) bool {
	if p := lower(l.Product); p != "" {
		return p == windowsProduct
	}
	return l.Category == "" && l.Service == ""
}

func readersOf(rules []*ast.Rule) (r readers) {
	r.rules = make([]uint64, (len(rules)+63)/64)
	for i, rule := range rules {
		if !meetsRecords(rule.Logsource) {
			continue
		}
		var has [NumShapes]bool
		for _, d := range rule.Detections {
			d.Node.Walk(func(n *ast.Node) bool {
				if n.Path != "" {
					has[shapeOf(n.Path)] = true
				}
				for i := range n.Items {
					if field := n.Items[i].Field; field != "" && field != "." {
						has[shapeOf(field)] = true
					}
				}
				return true
			})
		}
		has[Shipped] = has[Shipped] && !has[traced] // they share names
		for shape, ok := range has {
			if ok {
				r.shaped[shape]++
				r.rules[i/64] |= 1 << (i % 64)
			}
		}
	}
	for _, word := range r.rules {
		for ; word != 0; word &= word - 1 {
			r.all++
		}
	}
	return r
}

// The part of the rules, one in so many, that is not worth counting: some rules are
// written for another shape than the rest, and a pipeline leaves many names as they are,
// which are flat.
const (
	fewReaders     = 10
	fewFlatReaders = 2
)

// Misses reports whether hardly any of the rules that Windows records may meet looks at
// fields that those of a shape have.
func (s *Set) Misses(shape Shape) bool {
	few := fewReaders
	if shape == Flat {
		few = fewFlatReaders
	}
	return shape != NoShape && s.readers.all > 0 && s.readers.shaped[shape]*few <= s.readers.all
}

// Renamed reports whether most of these rules look at fields of one other shape that rules
// are not written for, so that a pipeline has renamed them.
func (s *Set) Renamed(shape Shape) bool {
	for other, n := range s.readers.shaped {
		if Shape(other) != shape && Shape(other) != Flat && 2*n > s.readers.all {
			return true
		}
	}
	return false
}

// ReadsRecords reports whether a rule is one that Windows records may meet by their
// fields.
func (s *Set) ReadsRecords(rule int) bool { return s.readers.rules[rule/64]&(1<<(rule%64)) != 0 }
