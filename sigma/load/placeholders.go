package load

import (
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// openPlaceholders finds the placeholders that no pipeline gave a value. With expand
// such a %name% stands for the event's field of that name, which public rules seldom
// mean.
type openPlaceholders struct {
	known   map[*ast.Node][]string // of trees that rules share
	filters map[string]bool        // whose placeholders are told of
}

// warn warns once of the placeholders of a rule, and once of those of each filter. Those
// that the rule lists under fields, as it was written, are meant.
func (o *openPlaceholders) warn(d *draft) {
	var names []string
	for i := range d.Rule.Detections {
		for _, name := range o.of(d.Rule.Detections[i].Node, d.common) {
			if !slices.Contains(names, name) && !slices.Contains(d.fieldsWritten, name) {
				names = append(names, name)
			}
		}
	}
	const advice = "each reads the event's field of its name (set them in the vars of a pipeline with value_placeholders, or list them under fields if the fields are meant)"
	if len(names) > 0 {
		d.warn(d.Rule.Origin.Line, "no pipeline gives a value to %s: %s", spelled(names), advice)
	}
	for i := range d.Rule.Filters {
		f := &d.Rule.Filters[i]
		var names []string
		for k := range f.Detections {
			for _, name := range o.of(f.Detections[k].Node, true) {
				if !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
		}
		key := f.ID + "\x00" + f.Title
		if len(names) == 0 || o.filters[key] {
			continue
		}
		if o.filters == nil {
			o.filters = make(map[string]bool)
		}
		o.filters[key] = true
		d.warn(d.Rule.Origin.Line, "no pipeline gives a value to %s of filter '%s': %s", spelled(names), f.Title, advice)
	}
}

// maxSpelled is how many names a warning has.
const maxSpelled = 10

// spelled lists names the way rules write them.
func spelled(names []string) string {
	list, more := names, ""
	if len(list) > maxSpelled {
		list, more = list[:maxSpelled], ", ..."
	}
	return "%" + strings.Join(list, "%, %") + "%" + more
}

// of returns the names below a node. Those of a shared node are looked for once.
func (o *openPlaceholders) of(n *ast.Node, shared bool) []string {
	if names, known := o.known[n]; known {
		return names
	}
	var names []string
	n.Walk(func(n *ast.Node) bool {
		for i := range n.Items {
			if !n.Items[i].Modifiers.Has(ast.Expand) {
				continue
			}
			for _, v := range n.Items[i].Values {
				names = appendPlaceholders(names, &v)
			}
		}
		return true
	})
	if shared {
		if o.known == nil {
			o.known = make(map[*ast.Node][]string)
		}
		o.known[n] = names
	}
	return names
}

// appendPlaceholders adds the name of each %name% in a value.
func appendPlaceholders(names []string, v *ast.Value) []string {
	if v.Kind != ast.String {
		return names
	}
	_, rest, found := strings.Cut(v.Text, "%")
	for found {
		var name string
		if name, rest, found = strings.Cut(rest, "%"); found && name != "" {
			names = append(names, name)
		}
		_, rest, found = strings.Cut(rest, "%")
	}
	return names
}
