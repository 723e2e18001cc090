package pipeline

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/sigma/ast"
)

// hashesFields splits the combined hash field of Sysmon into one field for each
// algorithm.
type hashesFields struct {
	valid      []string // empty allows all
	prefix     string
	dropPrefix bool // the field is the prefix alone
	fields     []string
}

func readHashes(p *params) (transformation, error) {
	t := hashesFields{fields: []string{"Hashes", "Hash"}}
	var err error
	if t.valid, err = p.list("valid_hash_algos"); err != nil {
		return nil, err
	}
	if t.prefix, err = p.str("File", "field_prefix"); err != nil {
		return nil, err
	}
	if t.dropPrefix, err = p.boolean("drop_algo_prefix"); err != nil {
		return nil, err
	}
	fields, err := p.list("field_to_parse")
	if fields != nil {
		t.fields = fields
	}
	return t, err
}

func (t hashesFields) apply(c *call) error {
	return rewriteRule(c.rule, func(_ *ast.Node, it ast.Item) (replacement, error) {
		parse := slices.ContainsFunc(t.fields, func(f string) bool { return strings.EqualFold(f, it.Field) })
		if it.Field == "" || !parse || !c.touches(&it) {
			return kept, nil
		}
		return t.item(c, it)
	})
}

// item makes an alternative of every value, or one conjunction of all of them
// when the item had the modifier all. Under neq no value may match: of each value some
// piece must differ.
func (t hashesFields) item(c *call, it ast.Item) (replacement, error) {
	out := replacement{}
	all := it.Modifiers.Has(ast.All)
	var together []ast.Item
	for _, v := range it.Values {
		var items []ast.Item
		if v.Kind == ast.String {
			items = t.pieces(c, it, v)
		}
		if len(items) == 0 {
			continue
		}
		together = append(together, items...)
		out.alternatives = append(out.alternatives, items)
	}
	if len(together) == 0 {
		return kept, fmt.Errorf("no valid hash algorithm found in field '%s'", it.Field)
	}
	switch {
	case it.Modifiers.Has(ast.Neq):
		values := out.alternatives
		out = replacement{alternatives: eachAlone(values[0])}
		for _, pieces := range values[1:] {
			out.also = append(out.also, replacement{alternatives: eachAlone(pieces)})
		}
	case all:
		out.alternatives = [][]ast.Item{together}
	}
	return out, nil
}

// eachAlone makes an alternative of every item.
func eachAlone(items []ast.Item) [][]ast.Item {
	var out [][]ast.Item
	for _, it := range items {
		out = append(out, []ast.Item{it})
	}
	return out
}

var hashLengths = map[int]string{32: "MD5", 40: "SHA1", 64: "SHA256", 128: "SHA512"}

// pieces gives one item for every usable hash of a value; all must hold.
func (t hashesFields) pieces(c *call, it ast.Item, v ast.Value) []ast.Item {
	var out []ast.Item
	for piece := range strings.SplitSeq(v.Text, ",") {
		piece = strings.TrimSpace(piece)
		algorithm, hash, found := strings.Cut(piece, "=")
		if !found {
			algorithm, hash, found = strings.Cut(piece, "|")
		}
		if !found {
			hash, algorithm = piece, ""
		}
		hash = strings.Trim(strings.TrimSpace(hash), "*?")
		algorithm = strings.ToUpper(strings.Trim(strings.TrimSpace(algorithm), "*?"))
		if algorithm == "" {
			algorithm = hashLengths[len(hash)]
		}
		allowed := len(t.valid) == 0 || slices.ContainsFunc(t.valid, func(a string) bool { return strings.EqualFold(a, algorithm) })
		if algorithm == "" || hash == "" || !allowed {
			continue
		}
		field := t.prefix
		if !t.dropPrefix {
			field += algorithm
		}
		made := it
		made.Field, made.Paths = field, nil
		made.Modifiers = it.Modifiers.Without(ast.All)
		made.Values = []ast.Value{ast.StringValue(hash)}
		c.mark(&made)
		c.markName(&made)
		out = append(out, made)
	}
	return out
}
