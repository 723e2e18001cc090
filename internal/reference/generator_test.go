package reference_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"github.com/sluicehq/sluice/sigma/ast"
)

// Generator makes events that rules nearly match. The same seed and rules give
// the same events.
type Generator struct {
	rng   *rand.Rand
	rules []*ast.Rule
}

// NewGenerator makes events for rules.
func NewGenerator(seed uint64, rules []*ast.Rule) *Generator {
	return &Generator{rng: rand.New(rand.NewPCG(seed, 0)), rules: rules}
}

// oneIn is true once in n times.
func (g *Generator) oneIn(n int) bool { return g.rng.IntN(n) == 0 }

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// Event returns a line: JSON almost always.
func (g *Generator) Event() []byte {
	var members []string
	for range 1 + g.rng.IntN(2) {
		r := pick(g.rng, g.rules)
		for i := range r.Detections {
			if !g.oneIn(5) {
				members = g.node(r.Detections[i].Node, "", members)
			}
		}
		for i := range r.Filters {
			for j := range r.Filters[i].Detections {
				if g.oneIn(3) {
					members = g.node(r.Filters[i].Detections[j].Node, "", members)
				}
			}
		}
		if g.oneIn(2) {
			members = g.logsource(r.Logsource, members)
		}
	}
	if g.oneIn(4) {
		members = append(members, g.key(pick(g.rng, timeFields))+g.value(g.time()))
	}
	g.rng.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	line := g.object(members)
	switch {
	case g.oneIn(40):
		line = "[" + line + "," + g.object(members[:len(members)/2]) + "]"
	case g.oneIn(200):
		line = pick(g.rng, []string{"7", `"foo"`, `"foo bar`, "null", "[]", "{}", "[[{}]]", "{", "not json", `{"a":01}`})
	}
	return []byte(line)
}

// Damaged returns an event in which a few bytes are missing, doubled or others.
func (g *Generator) Damaged() []byte {
	line := g.Event()
	for range 1 + g.rng.IntN(3) {
		i := g.rng.IntN(len(line) + 1)
		n := min(g.rng.IntN(3), len(line)-i)
		line = slices.Concat(line[:i], []byte(pick(g.rng, []string{"", "", `"`, `\\`, ",", "[", "]", "{", "}", ":", "\x00", "\xff", "\u00e9", `\u`, "-", "0", "1e", " ", "\n", "null"})), line[i+n:])
	}
	return line
}

var timeFields = []string{"@timestamp", "timestamp", "EventTime", "TimeCreated", "eventTime"}

func (g *Generator) object(members []string) string {
	gap := strings.Repeat(" ", max(0, g.rng.IntN(4)-2))
	return "{" + gap + strings.Join(members, gap+","+gap) + gap + "}"
}

func (g *Generator) logsource(l ast.Logsource, members []string) []string {
	for _, d := range [][2]string{{"product", l.Product}, {"service", l.Service}, {"category", l.Category}} {
		if d[1] != "" && !g.oneIn(3) {
			members = append(members, g.key(d[0])+g.value(g.vary(d[1])))
		}
	}
	return members
}

// node appends members that tend to satisfy n, relative to the path prefix.
func (g *Generator) node(n *ast.Node, prefix string, members []string) []string {
	for i := range n.Items {
		if !g.oneIn(6) {
			members = g.item(&n.Items[i], prefix, members)
		}
	}
	children := n.Nodes
	if n.Kind == ast.KindAny && len(children) > 1 {
		children = []*ast.Node{pick(g.rng, children), pick(g.rng, children)}
	}
	if n.Kind == ast.KindArray {
		return g.array(n, prefix, members)
	}
	for _, c := range children {
		members = g.node(c, prefix, members)
	}
	for i := range n.Detections {
		members = g.node(n.Detections[i].Node, prefix, members)
	}
	return members
}

func (g *Generator) array(n *ast.Node, prefix string, members []string) []string {
	var list []string
	for range g.rng.IntN(4) {
		inner := g.node(n.Nodes[0], "", nil)
		switch {
		case g.oneIn(2) && len(inner) > 0:
			// A body about the member itself gives keys named ".".
			_, v, _ := strings.Cut(pick(g.rng, inner), ":")
			list = append(list, v)
		case g.oneIn(12):
			list = append(list, pick(g.rng, []string{"null", "[]", "{}", "1"}))
		default:
			list = append(list, g.object(inner))
		}
	}
	v := "[" + strings.Join(list, ",") + "]"
	if len(list) == 1 && g.oneIn(3) {
		v = list[0]
	}
	return append(members, g.member(prefix+n.Path, v))
}

// item appends a value for the item's field, perhaps twice.
func (g *Generator) item(it *ast.Item, prefix string, members []string) []string {
	name := it.Field
	if len(it.Paths) > 0 {
		name = strings.ReplaceAll(pick(g.rng, it.Paths), "*", pick(g.rng, []string{"C", "D"}))
	}
	if name == "" {
		name = pick(g.rng, []string{"message", "m", "raw.text"})
	}
	if it.Modifiers.HasAny(ast.Modifiers(ast.FieldRef|ast.Expand)) && len(it.Values) > 0 {
		return g.referring(it, prefix+name, members)
	}
	v := g.forItem(it)
	switch {
	case it.Modifiers.Has(ast.All) && len(it.Values) > 0 && !g.oneIn(4):
		var texts []string
		for _, a := range it.Values {
			texts = append(texts, g.text(a, it.Modifiers))
		}
		v = g.value(strings.Join(texts, pick(g.rng, []string{"", " ", "x"})))
		if g.oneIn(3) {
			v = g.list(texts)
		}
	case g.oneIn(8):
		v = "[" + v + "," + g.forItem(it) + "]"
	case g.oneIn(30):
		v = "[[" + v + "]]"
	}
	members = append(members, g.member(prefix+name, v))
	if g.oneIn(15) {
		members = append(members, g.member(prefix+name, g.forItem(it)))
	}
	return members
}

// referring appends a field and what it is compared with.
func (g *Generator) referring(it *ast.Item, name string, members []string) []string {
	v := it.Values[g.rng.IntN(len(it.Values))]
	word := pick(g.rng, words)
	text := word
	others := []string{v.Plain()}
	if v.Kind != ast.String {
		others = []string{v.Text}
	}
	if it.Modifiers.Has(ast.Expand) {
		others = nil
		for i, part := range strings.Split(plain(v), "%") {
			if i%2 == 1 {
				others = append(others, part)
			}
		}
		text = plain(v)
		for _, o := range others {
			text = strings.ReplaceAll(text, "%"+o+"%", word)
		}
	}
	if it.Modifiers.Has(ast.FieldRef) && g.oneIn(6) {
		return append(members, g.member(name, pick(g.rng, containers)), g.member(others[0], pick(g.rng, containers)))
	}
	members = append(members, g.member(name, g.value(g.around(g.vary(text), it.Modifiers))))
	for _, o := range others {
		switch other := g.value(g.vary(word)); {
		case g.oneIn(6):
			members = append(members, g.member(o, pick(g.rng, []string{"null", "{}", "[]", "1", `{"a":1}`})))
		case g.oneIn(6):
			members = append(members, g.member(o, "["+other+`,"zz"]`))
		case !g.oneIn(8):
			members = append(members, g.member(o, other))
		}
	}
	return members
}

// containers are equal or nearly so.
var containers = []string{`{"a":1}`, `{"a":1.0}`, `{"a":"1"}`, `{ "a" : 1 }`, `{"a":1,"b":[1.50]}`, `{"b":[1.5],"a":1e0}`, `[{"a":1},{"a":2}]`, `{}`, `[]`, "null"}

func plain(v ast.Value) string {
	var b strings.Builder
	for _, p := range v.Parts {
		b.WriteString(map[ast.PartKind]string{ast.Many: "*", ast.One: "?", ast.Literal: p.Text}[p.Kind])
	}
	return b.String()
}

// member is a key and a value. A dotted name may become nested objects.
func (g *Generator) member(name, v string) string {
	if i := strings.LastIndexByte(name, '['); i > 0 && strings.HasSuffix(name, "]") && g.oneIn(2) {
		return g.member(name[:i], pick(g.rng, []string{"[" + v + "]", "[" + v + "," + v + "]", `["foo",` + v + "]"}))
	}
	head, rest, dotted := strings.Cut(name, ".")
	if !dotted || name == "." || g.oneIn(2) {
		return g.key(name) + v
	}
	inner := g.object([]string{g.member(rest, v)})
	switch {
	case rest == "#text": // a record's element, never a list of them
	case g.oneIn(5):
		inner = "[" + inner + "," + pick(g.rng, []string{"1", "{}", inner}) + "]"
	case g.oneIn(10):
		inner = "[[" + inner + "]]"
	}
	return g.member(head, inner)
}

func (g *Generator) key(name string) string {
	return g.value(name) + pick(g.rng, []string{":", ": ", " :"})
}

// value spells a text as a JSON string, with escapes of every kind.
func (g *Generator) value(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	every := pick(g.rng, []int{1 << 30, 1 << 30, 20, 3})
	for len(s) > 0 {
		r := []rune(s[:min(len(s), 4)])[0]
		n := len(string(r))
		if r == unicode.ReplacementChar && !strings.HasPrefix(s, "\ufffd") {
			n = 1
		}
		switch {
		case r > 0xFFFF || r == '"' || r < ' ':
			q, _ := json.Marshal(string(r))
			b.Write(q[1 : len(q)-1])
		case r == '\\':
			b.WriteString(pick(g.rng, []string{`\\`, `\\`, `\u005c`, `\u005C`}))
		case r == '/' && g.oneIn(4):
			b.WriteString(`\/`)
		case g.oneIn(every) && n > 0:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(s[:n])
		}
		s = s[n:]
	}
	b.WriteByte('"')
	return b.String()
}

func (g *Generator) list(texts []string) string {
	spelled := make([]string, len(texts))
	for i, s := range texts {
		spelled[i] = g.value(s)
	}
	return "[" + strings.Join(spelled, ",") + "]"
}
