package load

import (
	"reflect"
	"slices"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/load/internal/check"
)

// dependent is a document over which values from outside decide.
type dependent struct {
	uses []string

	// What follows belongs to detection rules that are served. Nobody changes it.
	before   *ast.Rule // filters merged, pipelines not run; nil for any other document
	after    *ast.Rule // as it serves
	index    int       // load index
	document parsed    // without the rule
	file     string
	warnings [2]int // those of making the rule, in Collection.Warnings
}

// dependents lists the documents over which values from outside decide.
func (c *collector) dependents() []dependent {
	out := []dependent{}
	index, told := 0, 0
	for _, d := range c.drafts {
		served := d.Rule != nil && d.state != skipped && d.usable()
		if d.dependent != nil {
			x := *d.dependent
			if served {
				x.after, x.index, x.file, x.document = d.Rule, index, d.file, d.parsed
				x.document.Rule, x.document.Problems, x.document.Warnings = nil, nil, nil
				x.warnings = [2]int{told + d.read, told + d.made}
			} else {
				x.before = nil
			}
			out = append(out, x)
		}
		if served {
			index++
		}
		told += len(d.Warnings)
	}
	return out
}

// Change is a rule that became another one.
type Change struct {
	Index         int // load index
	Before, After *ast.Rule
}

// Dependents is the number of documents over which values from outside decide.
func (c *Collection) Dependents() int { return len(c.dependents) }

// Renew runs the pipelines again over the rules that use one of changed, names of values
// from outside. It returns what becomes of the collection, which stays as it is and may
// be without its rules, and the rules that are others now. Ok is false when more may
// have changed than the detections of rules, such as which documents are rejected: then
// the documents have to be collected again.
func (c *Collection) Renew(o Options, changed []string) (next *Collection, changes []Change, ok bool) {
	if c.dependents == nil || o.Transform == nil {
		return nil, nil, false
	}
	out := *c
	out.dependents, out.Warnings = slices.Clone(c.dependents), nil
	told := 0 // warnings of c that are in out
	for i := range out.dependents {
		x := &out.dependents[i]
		moved := len(out.Warnings) - told
		if !slices.ContainsFunc(x.uses, func(name string) bool { return slices.Contains(changed, name) }) {
			x.warnings[0], x.warnings[1] = x.warnings[0]+moved, x.warnings[1]+moved
			continue
		}
		was := c.dependents[i]
		d, ok := x.again(o)
		if !ok {
			return nil, nil, false
		}
		if !d.Rule.EqualLogic(was.after) {
			changes = append(changes, Change{Index: x.index, Before: was.after, After: d.Rule})
			x.after = d.Rule
		}
		if was.before == nil {
			continue
		}
		out.Warnings = append(append(out.Warnings, c.Warnings[told:was.warnings[0]]...), d.Warnings...)
		told = was.warnings[1]
		x.warnings = [2]int{len(out.Warnings) - len(d.Warnings), len(out.Warnings)}
	}
	out.Warnings = append(out.Warnings, c.Warnings[told:]...)
	if c.Rules != nil {
		out.Rules = slices.Clone(c.Rules)
		for _, x := range changes {
			out.Rules[x.Index] = x.After
		}
	}
	return &out, changes, true
}

// again makes the rule of a document again. Ok is false when more than its detections
// and conditions may be different.
func (x *dependent) again(o Options) (d *draft, ok bool) {
	if x.before == nil {
		return nil, false
	}
	d = &draft{parsed: x.document, file: x.file, fieldsWritten: x.before.Fields}
	var outcome Outcome
	d.guard(func() {
		var err error
		d.Rule, outcome, err = o.Transform(x.before)
		c := collector{opts: o}
		c.applied(d, &d.Rule.Meta, outcome, err)
		d.adopt(check.Rule(d.Rule, check.Options{Written: d.Written}))
		problems, _ := check.Filters(d.Rule)
		d.adopt(problems, nil)
	})
	if !d.usable() || d.state == skipped || !reflect.DeepEqual(d.Rule.Logsource, x.after.Logsource) || !reflect.DeepEqual(d.Rule.Meta, x.after.Meta) {
		return nil, false
	}
	for _, name := range []string{attrTimestampField, attrSuppress, attrAction} {
		if _, has := d.Rule.Attributes[name]; has {
			return nil, false // it has a say in the settings of the engine, and is warned about
		}
	}
	var open openPlaceholders
	open.warn(d)
	if len(open.filters) > 0 {
		return nil, false // of which the first rule that has it is told
	}
	x.uses = outcome.Uses
	return d, true
}
