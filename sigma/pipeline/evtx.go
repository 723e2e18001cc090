package pipeline

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// evtxPaths gives a field the paths under which a rendered Windows event record has
// it.
type evtxPaths struct{}

var evtxSystem = []string{"Channel", "Computer", "Level", "Task", "Opcode", "Keywords", "Version", "EventRecordID"}

// paths returns the paths of a name, nil when the name stays as it is.
func (evtxPaths) paths(name string) []string {
	switch {
	case strings.HasPrefix(name, "Event.") || name == "" || name == member:
		return nil
	case name == "EventID":
		return []string{"Event.System.EventID", "Event.System.EventID.#text"}
	case name == "Provider_Name":
		return []string{"Event.System.Provider.#attributes.Name"}
	case slices.Contains(evtxSystem, name):
		return []string{"Event.System." + name}
	}
	return []string{"Event.EventData." + name, "Event.UserData.*." + name}
}

// rename returns the first path, for places that take only one name.
func (t evtxPaths) rename(name string) []string {
	if p := t.paths(name); p != nil {
		return p[:1]
	}
	return nil
}

func (t evtxPaths) apply(c *call) error {
	renamePaths(c, t)
	err := rewriteRule(c.rule, func(_ *ast.Node, it ast.Item) (replacement, error) {
		if !c.touches(&it) {
			return kept, nil
		}
		changed := false
		if it.Modifiers.HasAny(referring) {
			it, changed = renaming{renamer: t}.references(c, it)
		}
		if paths := t.paths(it.Field); paths != nil {
			it.Field, it.Paths, changed = paths[0], paths, true
			c.markName(&it)
		}
		if !changed {
			return kept, nil
		}
		c.mark(&it)
		return renamed(it), nil
	})
	if err != nil {
		return err
	}
	c.rule.Fields = renameList(c, t, c.rule.Fields)
	return nil
}

// renamedPaths returns the paths of a field for target i of renamer t. It is nil
// when t does not rename every path: the field is then an ordinary one.
func renamedPaths(t renamer, paths []string, i int) []string {
	var out []string
	for _, p := range paths {
		targets := t.rename(p)
		if i >= len(targets) {
			return nil
		}
		out = append(out, targets[i])
	}
	return out
}

// correlation renames fields to their first paths and adds the list of paths of
// each.
func (t evtxPaths) correlation(c *call) error {
	r := c.correlation
	paths := map[string][]string{}
	note := func(name string) {
		if all := t.paths(name); all != nil {
			paths[all[0]] = all
		}
	}
	for _, name := range r.GroupBy {
		note(name)
	}
	for _, a := range r.Aliases {
		for _, f := range a.Fields {
			note(f.Field)
		}
	}
	for _, name := range r.Condition.Fields {
		note(name)
	}
	if err := renameCorrelation(c, t); err != nil {
		return err
	}
	if len(paths) > 0 && r.Paths == nil {
		r.Paths = map[string][]string{}
	}
	maps.Copy(r.Paths, paths)
	return nil
}

func windowsEVTX() *Pipeline {
	product := "windows"
	return &Pipeline{
		Name: "windows_evtx", Path: "windows_evtx", Priority: 20, Vars: map[string][]string{},
		items: []*item{{
			id: "windows_evtx_fields", kind: "windows_evtx_places", where: "transformations[0] 'windows_evtx_fields'",
			rule: group[ruleCondition]{names: []string{"windows"}, conds: []ruleCondition{logsourceCondition{product: &product}}},
			act:  evtxPaths{},
		}},
	}
}
