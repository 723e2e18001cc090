package load

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/sigma/ast"
)

// newestVersion is the newest major of sigma-version that this build understands.
const newestVersion = 3

var relatedTypes = []string{"derived", "obsolete", "merged", "renamed", "similar", "correlation"}

// meta reads what every kind of document carries beside its logic. own handles
// the keys of the kind and reports whether a key is one of them; what nobody
// knows becomes a custom attribute.
func (d *draft) meta(m *ast.Meta, own func(key string, value *document.Node) bool) {
	m.Origin = ast.Origin{File: d.file, Document: d.Number, Line: d.root.Line}
	var attributes *document.Node
	for _, e := range d.root.Entries {
		if e.Key.Kind != document.String {
			d.warn(e.Key.Line, "key %s is not a string and is ignored", e.Key.Text)
			continue
		}
		key := e.Key.Text
		switch {
		case key == "custom_attributes":
			attributes = e.Value
		case own(key, e.Value) || d.metaKey(m, key, e.Value):
		default:
			d.attribute(m, key, e.Value)
		}
	}
	if title := d.root.Get("title"); title == nil || title.Kind == document.Null {
		d.missing(d.root, "title")
	}
	d.customAttributes(m, attributes)
}

// missing reports a key that a mapping has to have.
func (d *draft) missing(n *document.Node, key string) {
	hint := ""
	for _, e := range n.Entries {
		if e.Key.Kind == document.String && suggest.Nearest(e.Key.Text, []string{key}) != "" {
			hint = fmt.Sprintf(" (did you mean it by '%s'?)", e.Key.Text)
			break
		}
	}
	d.fail(n.Line, "Missing required field '%s'%s", key, hint)
}

// metaKey reads one standard key; false means that the key is not standard.
func (d *draft) metaKey(m *ast.Meta, key string, v *document.Node) bool {
	switch key {
	case "title":
		title, ok := v.Str()
		if !ok && v.Kind != document.Null {
			d.fail(v.Line, "Field 'title' must be a string")
		}
		m.Title = title
	case "id":
		m.ID = d.optional(key, v)
	case "name":
		m.Name = d.optional(key, v)
	case "taxonomy":
		m.Taxonomy = d.optional(key, v)
	case "description":
		m.Description = d.optional(key, v)
	case "license":
		m.License = d.optional(key, v)
	case "author":
		m.Author = d.optional(key, v)
	case "date":
		m.Date = d.optional(key, v)
	case "modified":
		m.Modified = d.optional(key, v)
	case "status":
		m.Status = d.status(v)
	case "level":
		m.Level = d.level(v)
	case "tags":
		m.Tags = d.stringList(key, v)
	case "references":
		m.References = d.stringList(key, v)
	case "fields":
		m.Fields = d.stringList(key, v)
	case "falsepositives":
		m.FalsePositives = d.stringList(key, v)
	case "scope":
		m.Scope = d.stringList(key, v)
	case "related":
		m.Related = recall(d, key, v, 0, func() []ast.Related { return d.related(v) })
	default:
		return false
	}
	return true
}

func (d *draft) optional(key string, v *document.Node) string {
	s, ok := v.Str()
	if !ok {
		d.warn(v.Line, "field '%s' is not a string and is ignored", key)
	}
	return s
}

func (d *draft) status(v *document.Node) string {
	s, ok := v.Str()
	if ok && slices.Contains(statuses, s) {
		return s
	}
	d.warn(v.Line, "unknown status %q is ignored%s", v.Text, suggest.Behind(v.Text, statuses))
	return ""
}

func (d *draft) level(v *document.Node) ast.Level {
	s, _ := v.Str()
	level, err := ast.ParseLevel(s)
	if err != nil {
		d.warn(v.Line, "unknown level %q is ignored%s", v.Text, suggest.Behind(v.Text, ast.LevelNames()))
	}
	return level
}

// stringList reads a string or a list of strings.
func (d *draft) stringList(key string, v *document.Node) []string {
	return recall(d, key, v, 0, func() []string { return d.readStrings(key, v) })
}

func (d *draft) readStrings(key string, v *document.Node) []string {
	out := stringsOf(v)
	switch {
	case v.Kind == document.String:
	case v.Kind != document.List:
		d.warn(v.Line, "field '%s' is neither a string nor a list of strings and is ignored", key)
	case len(out) < len(v.Items):
		d.warn(v.Line, "field '%s' has entries that are no strings; they are ignored", key)
	}
	return out
}

func (d *draft) related(v *document.Node) []ast.Related {
	if v.Kind != document.List {
		d.warn(v.Line, "field 'related' is not a list and is ignored")
		return nil
	}
	var out []ast.Related
	for _, it := range v.Items {
		id, okID := it.Get("id").Str()
		kind, _ := it.Get("type").Str()
		if !okID || !slices.Contains(relatedTypes, kind) {
			d.warn(it.Line, "entry of 'related' without an id and a known type is ignored")
			continue
		}
		out = append(out, ast.Related{ID: id, Type: kind})
	}
	return out
}

// version reads the major of sigma-version.
func (d *draft) version() int {
	const standard = 2
	v := d.root.Get("sigma-version")
	if v == nil || v.Kind == document.Null {
		return standard
	}
	text := v.Text
	switch v.Kind {
	case document.Int, document.Float:
	case document.String:
		text = strings.TrimSpace(text)
		if len(text) > 0 && text[0]|0x20 == 'v' {
			text = text[1:]
		}
	default:
		text = ""
	}
	major, _, _ := strings.Cut(text, ".")
	if major == "" || strings.Trim(major, "0123456789") != "" {
		d.warn(v.Line, "sigma-version %q is not understood and is ignored", v.Text)
		return standard
	}
	n, err := strconv.Atoi(major)
	if err != nil || n > newestVersion {
		d.warn(v.Line, "sigma-version %s is newer than this build understands, read as %d", v.Text, newestVersion)
		return newestVersion
	}
	return n
}

func (d *draft) logsource(v *document.Node) ast.Logsource {
	var ls ast.Logsource
	if v.Kind != document.Map {
		d.fail(v.Line, "logsource must be a mapping")
		return ls
	}
	for _, e := range v.Entries {
		value, ok := e.Value.Str()
		if !ok || e.Key.Kind != document.String {
			d.warn(e.Key.Line, "logsource '%s' is not a string and is ignored", e.Key.Text)
			continue
		}
		switch e.Key.Text {
		case "category":
			ls.Category = value
		case "product":
			ls.Product = value
		case "service":
			ls.Service = value
		case "definition":
			ls.Definition = value
		default:
			if ls.Custom == nil {
				ls.Custom = make(map[string]string)
			}
			ls.Custom[e.Key.Text] = value
		}
	}
	return ls
}
