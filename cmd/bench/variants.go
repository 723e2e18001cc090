package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"github.com/sluicehq/sluice/sigma/ast"
)

// judgeFile judges a file batch by batch, the way a daemon reads its input.
func judgeFile(j *judge, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(make([]byte, 64<<10), 2<<20)
	var text []byte
	var ends []int
	flush := func() error {
		lines := make([][]byte, len(ends))
		from := 0
		for i, end := range ends {
			lines[i], from = text[from:end:end], end
		}
		text, ends = text[:0], ends[:0]
		return j.run(lines)
	}
	for in.Scan() {
		text = append(text, in.Bytes()...)
		if ends = append(ends, len(text)); len(ends) == batchSize {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	if err := in.Err(); err != nil {
		return err
	}
	return flush()
}

// longLiteral is where a text counts as long: shorter ones are left alone, as
// they are in rule sets that grow.
const longLiteral = 4

// multiplied returns the rules and times-1 variants of them in which every
// longer literal is another one.
func multiplied(rules []*ast.Rule, times int) ([]*ast.Rule, error) {
	out := append([]*ast.Rule{}, rules...)
	for n := 1; n < times; n++ {
		for _, r := range rules {
			c, err := variant(r, n)
			if err != nil {
				return nil, err
			}
			out = append(out, c)
		}
	}
	return out, nil
}

// raw are the modifiers whose values are no literals.
const raw = ast.Modifiers(ast.Re | ast.CIDR | ast.FieldRef | ast.Expand)

func variant(r *ast.Rule, n int) (*ast.Rule, error) {
	b, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("copy rule %s: %w", r.Key(), err)
	}
	c := &ast.Rule{}
	if err := json.Unmarshal(b, c); err != nil {
		return nil, fmt.Errorf("copy rule %s: %w", r.Key(), err)
	}
	c.ID = fmt.Sprintf("%s-%d", r.ID, n)
	for i := range c.Detections {
		c.Detections[i].Node.Walk(func(node *ast.Node) bool {
			for k := range node.Items {
				if node.Items[k].Modifiers.HasAny(raw) {
					continue
				}
				for v := range node.Items[k].Values {
					change(&node.Items[k].Values[v], n)
				}
			}
			return true
		})
	}
	return c, nil
}

func change(v *ast.Value, n int) {
	if v.Kind != ast.String {
		return
	}
	changed := false
	for i := range v.Parts {
		if p := &v.Parts[i]; p.Kind == ast.Literal && len(p.Text) >= longLiteral {
			// In the middle, so that prefixes and suffixes stay what they are.
			mid := len(p.Text) / 2
			for mid > 0 && p.Text[mid]&0xC0 == 0x80 {
				mid--
			}
			p.Text = p.Text[:mid] + fmt.Sprintf("%c", 'a'+(int(p.Text[mid])+n)%26) + p.Text[mid:]
			changed = true
		}
	}
	if changed {
		v.Text = ast.JoinParts(v.Parts)
	}
}
