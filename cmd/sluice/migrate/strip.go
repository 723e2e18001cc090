package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/disk"
)

// Strip takes the blocks out of the pipelines. The errors name pipelines that are as they
// were.
func (s *Set) Strip() (errs []error) {
	for _, p := range s.Pipelines {
		if p.at < 0 {
			continue
		}
		if err := p.strip(); err != nil {
			errs = append(errs, fmt.Errorf("%s still has its sources, remove them by hand: %w", p.Path, err))
		}
	}
	return errs
}

func (p *Pipeline) strip() error {
	text, err := p.Stripped()
	if err != nil {
		return err
	}
	return replace(p.Path, text, p.mode)
}

// Stripped is the text of the pipeline without the block.
func (p *Pipeline) Stripped() ([]byte, error) {
	rest := *p.root.Content[0]
	rest.Content = append(append([]*yaml.Node{}, rest.Content[:p.at]...), rest.Content[p.at+2:]...)
	document := *p.root
	document.Content = []*yaml.Node{&rest}
	if text := p.cut(); text != nil {
		if again, err := parse(text); err == nil && same(again.Content[0], &rest) {
			return text, nil
		}
	}
	text, err := encode(&document)
	if err != nil {
		return nil, err
	}
	again, err := parse(text)
	if err == nil && !same(again.Content[0], &rest) {
		err = errors.New("the rest of the pipeline would not be the same")
	}
	return text, err
}

// cut is the text without the lines of the block, and nil if the block has no lines of its
// own.
func (p *Pipeline) cut() []byte {
	all := strings.SplitAfter(string(p.text), "\n")
	from, to := p.span(all)
	if from < 0 {
		return nil
	}
	before, after := all[:from], all[to:]
	for len(before) > 0 && len(after) > 0 && blank(before[len(before)-1]) && blank(after[0]) {
		after = after[1:]
	}
	text := strings.Join(before, "") + strings.Join(after, "")
	if len(p.root.Content[0].Content) == 2 { // a pipeline is a mapping, if an empty one
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += "{}\n"
	}
	return []byte(text)
}

func blank(line string) bool   { return strings.TrimSpace(line) == "" }
func comment(line string) bool { return strings.HasPrefix(strings.TrimSpace(line), "#") }

// span is the first line of the block and the one behind it, counted from 0, with the
// comments that stand right above it and those that are in it. The first is -1 if the
// block has no lines of its own.
func (p *Pipeline) span(all []string) (from, to int) {
	root, key := p.root.Content[0], p.key()
	first := key.Line - 1
	if root.Style&yaml.FlowStyle != 0 || first < 0 || first >= len(all) {
		return -1, -1
	}
	if head := []rune(strings.TrimPrefix(all[first], "\ufeff")); len(head) < key.Column || strings.TrimSpace(string(head[:key.Column-1])) != "" {
		return -1, -1
	}
	from, to = first-p.commentsAbove(all), len(all)
	if p.at+2 < len(root.Content) {
		to = root.Content[p.at+2].Line - 1
	} else {
		for i := first + 1; i < len(all); i++ {
			if line := strings.TrimRight(all[i], " \t\r\n"); line == "..." || line == "---" {
				to = i
				break
			}
		}
	}
	if to <= first || to > len(all) {
		return -1, -1
	}
	// What stands behind the block and is not indented is about what comes next.
	for to > first+1 && (blank(all[to-1]) || comment(all[to-1]) && len(all[to-1])-len(strings.TrimLeft(all[to-1], " ")) < key.Column) {
		to--
	}
	return from, to
}

// commentsAbove is how many lines right above the block are about it. What stands at the
// top of a pipeline is about the pipeline.
func (p *Pipeline) commentsAbove(all []string) int {
	if p.at == 0 {
		return 0
	}
	n := 0
	for i := p.key().Line - 2; i >= 0 && comment(all[i]); i-- {
		n++
	}
	return n
}

// above is the comment right above the block.
func (p *Pipeline) above() string {
	all := strings.SplitAfter(string(p.text), "\n")
	from, _ := p.span(all)
	if from < 0 {
		if p.at == 0 {
			return ""
		}
		return p.key().HeadComment
	}
	var kept []string
	for _, line := range all[from : p.key().Line-1] {
		kept = append(kept, strings.TrimSpace(line))
	}
	return strings.Join(kept, "\n")
}

// lost are the comments in the lines of the block that no node has.
func (p *Pipeline) lost(list []*yaml.Node) string {
	all := strings.SplitAfter(string(p.text), "\n")
	from, to := p.span(all)
	if from < 0 {
		return ""
	}
	kept, err := encode(&yaml.Node{Kind: yaml.SequenceNode, Content: list})
	if err != nil {
		return ""
	}
	var lost []string
	for _, line := range all[from:to] {
		if line = strings.TrimSpace(line); comment(line) && !bytes.Contains(kept, []byte(line)) {
			lost = append(lost, line)
		}
	}
	return strings.Join(lost, "\n")
}

// same reports whether two nodes say the same, whatever they look like.
func same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || tagOf(a) != tagOf(b) || a.Value != b.Value || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	for i := range a.Content {
		if !same(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// tagOf is the tag of a node. That of a key that merges is left to the encoder.
func tagOf(n *yaml.Node) string {
	if n.Tag == "" && n.Value == "<<" {
		return mergeTag
	}
	return n.ShortTag()
}

// replace puts a text in the place of a file at once.
func replace(path string, text []byte, mode os.FileMode) (err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	if f, err := os.OpenFile(path, os.O_WRONLY, 0); err != nil { // a file that nobody may write stays
		return err
	} else if err := f.Close(); err != nil {
		return err
	}
	return disk.Replace(path, text, mode)
}
