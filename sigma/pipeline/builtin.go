package pipeline

import (
	"embed"
	"slices"
	"strings"
)

//go:embed builtin/*.yml
var builtins embed.FS

// Builtins are the names of the pipelines inside the binary. A file of such a
// name is reached as ./name.
var Builtins = [...]string{"ecs_windows", "fibratus_windows", "sysmon", "windows_evtx"}

// Description says what a pipeline inside the binary does.
type Description struct {
	Name     string `json:"name"`
	Priority int32  `json:"priority"`
	Does     string `json:"description"`
	Events   string `json:"events"` // for which it is
}

// Descriptions describes the pipelines inside the binary, in the order of Builtins.
func Descriptions() []Description {
	return []Description{
		{"ecs_windows", 20, "renames Windows fields to the Elastic Common Schema", "Winlogbeat and Elastic Agent: process.executable, winlog.channel"},
		{"fibratus_windows", 20, "renames Windows fields to those of Fibratus and adds its event names", "Fibratus: ps.exe, evt.name"},
		{"sysmon", 10, "adds Sysmon's event id, and service sysmon, to Windows rules of a category", "Sysmon records with flat fields: EventID, Image"},
		{"windows_evtx", 20, "looks for Windows fields where rendered event records hold them", "EVTX as JSON: Event.System.EventID, Event.EventData.Image"},
	}
}

// Source returns the document of a pipeline inside the binary. It is empty for one that
// has none: windows_evtx does what no document can say.
func Source(builtin string) []byte {
	if !slices.Contains(Builtins[:], builtin) {
		return nil
	}
	data, err := builtins.ReadFile("builtin/" + builtin + ".yml")
	if err != nil {
		return nil
	}
	return data
}

// Place says where a pipeline without a document looks for a field.
type Place struct {
	Field string   `json:"field"`
	Paths []string `json:"paths"` // the first that the event has counts
}

// Places returns where windows_evtx looks for fields. The last one is any other field.
func Places() []Place {
	var out []Place
	for _, name := range append([]string{"EventID", "Provider_Name"}, evtxSystem...) {
		out = append(out, Place{name, evtxPaths{}.paths(name)})
	}
	const other = "NAME"
	return append(out, Place{"any other " + other, evtxPaths{}.paths(other)})
}

// String lists the paths.
func (p Place) String() string { return strings.Join(p.Paths, ", ") }
