package pipeline

import (
	"maps"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma"
)

// evtxPlaces gives a field the places where a rendered Windows event record
// holds it.
type evtxPaths struct{}

var evtxSystem = []string{"Channel", "Computer", "Level", "Task", "Opcode", "Keywords", "Version", "EventRecordID"}

// places returns nil for names that stay as they are.
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

// rename goes by the first place, where only one name can be.
func (t evtxPaths) rename(name string) []string {
	if p := t.paths(name); p != nil {
		return p[:1]
	}
	return nil
}

// evtxReference names the places of a field that another one is compared with.
// A value has no places of its own, so the ones that a name can spell stand side
// by side; where all values must hold there is only the first.
type evtxReference struct{ all bool }

func (r evtxReference) rename(name string) []string {
	paths := slices.DeleteFunc(evtxPaths{}.paths(name), func(p string) bool { return strings.Contains(p, "*") })
	if r.all && len(paths) > 1 {
		return paths[:1]
	}
	return paths
}

func (t evtxPaths) apply(c *call) error {
	renamePaths(c, t)
	err := rewriteRule(c.rule, func(_ *sigma.Node, it sigma.Item) (replacement, error) {
		if !c.touches(&it) {
			return kept, nil
		}
		changed := false
		if it.Modifiers.Has(sigma.FieldRef) {
			it.Values, changed = renaming{renamer: evtxReference{all: it.Modifiers.Has(sigma.All)}}.references(c, it)
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

// renamedPlaces gives the places of a field that t renames by its first place, for
// target number i of that: the others follow where t renames them alike. A
// renaming that knows only the first place means one field, which has none.
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

// correlation renames by first places and notes which further ones each has.
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
