package reference

import (
	"strconv"
	"strings"
)

// path is a field name ready to be looked up.
type path struct {
	name   string // as it is compared with keys and printed: brackets unescaped
	nested bool   // has a dot or an index
	steps  []step
	text   bool // an object stands for its #text, and without one for nothing
}

type step struct {
	key     string
	indexed bool
	index   int
	any     bool // any one key; in patterns only
}

// parsePath reads a field name; brackets mean something from version 3 on.
func parsePath(name string, version int) path {
	p := path{name: name}
	if version >= 3 {
		p.name = unescape(name)
	}
	for _, seg := range strings.Split(name, ".") {
		s := step{key: seg}
		if version >= 3 {
			s = parseStep(seg)
		}
		p.nested = p.nested || s.indexed
		p.steps = append(p.steps, s)
	}
	p.nested = p.nested || len(p.steps) > 1
	return p
}

// parsePattern reads a path pattern, in which the segment * is any one key.
func parsePattern(name string) path {
	p := parsePath(name, 2)
	p.text = true
	for i := range p.steps {
		p.steps[i].any = p.steps[i].key == "*"
	}
	return p
}

func parseStep(seg string) step {
	if open := strings.LastIndexByte(seg, '['); open >= 0 && strings.HasSuffix(seg, "]") &&
		!strings.HasSuffix(seg, `\]`) && (open == 0 || seg[open-1] != '\\') {
		if n, err := strconv.Atoi(seg[open+1 : len(seg)-1]); err == nil {
			return step{key: unescape(seg[:open]), indexed: true, index: n}
		}
	}
	return step{key: unescape(seg)}
}

func unescape(s string) string {
	return strings.NewReplacer(`\[`, "[", `\]`, "]").Replace(s)
}

// hit is a value found under a path, and where: at is the path with the
// position in every array that was crossed.
type hit struct {
	value *value
	at    string
}

// hits finds every value of p below root: in root itself when it is an object,
// in every object of it when it is an array. Positions are those inside that
// object.
func (p path) hits(root *value) []hit {
	switch root.kind {
	case object:
		return p.inObject(root)
	case list:
		var out []hit
		for _, e := range root.list {
			if e.kind == object {
				out = append(out, p.inObject(e)...)
			}
		}
		return out
	}
	return nil
}

func (p path) inObject(obj *value) []hit {
	var out []hit
	for _, v := range obj.all(p.name) {
		if p.text && v.kind == object && len(v.all("#text")) == 0 {
			continue
		}
		out = append(out, hit{v, p.name})
	}
	if out != nil || !p.nested {
		return out
	}
	return walk(obj, p.steps, "", nil)
}

func walk(v *value, steps []step, at string, out []hit) []hit {
	if len(steps) == 0 {
		return append(out, hit{v, at})
	}
	switch s := steps[0]; v.kind {
	case list:
		for i, e := range v.list {
			out = walk(e, steps, at+"["+strconv.Itoa(i)+"]", out)
		}
	case object:
		if s.any {
			for _, m := range v.members {
				out = walk(m.value, steps[1:], join(at, m.key), out)
			}
			return out
		}
		found, at := v.all(s.key), join(at, s.key)
		if s.indexed {
			found, at = element(found, s.index, at)
		}
		for _, child := range found {
			out = walk(child, steps[1:], at, out)
		}
	}
	return out
}

// element selects one element of an array, or of the values of a repeated key;
// anything else has none.
func element(found []*value, index int, at string) ([]*value, string) {
	if len(found) == 1 {
		found = found[0].list
	}
	if index < 0 {
		index += len(found)
	}
	if index < 0 || index >= len(found) {
		return nil, at
	}
	return found[index : index+1], at + "[" + strconv.Itoa(index) + "]"
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

// resolve returns the value of p below root, nil when it is absent.
func (p path) resolve(root *value) *value {
	hits := p.hits(root)
	values := make([]*value, len(hits))
	for i, h := range hits {
		values[i] = h.value
	}
	return joined(values)
}
