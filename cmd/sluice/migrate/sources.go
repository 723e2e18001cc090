package migrate

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/disk"
)

// Strategy says how sources are spread over files.
type Strategy string

// The strategies.
const (
	Single      Strategy = "single"       // one file
	PerPipeline Strategy = "per-pipeline" // one for each pipeline that has sources
)

// File is a file of sources.
type File struct {
	Path string
	Data []byte

	mode fs.FileMode
}

// Files makes the files of sources: out, or those in the directory out.
func (s *Set) Files(out string, strategy Strategy) ([]File, error) {
	if strategy == Single {
		f, err := s.file(out, s.Pipelines)
		return []File{f}, err
	}
	var files []File
	count := make(map[string]int)
	for _, p := range s.Pipelines {
		if len(p.sources) == 0 {
			continue
		}
		stem := strings.TrimSuffix(filepath.Base(p.Path), filepath.Ext(p.Path))
		name := stem + "-sources"
		if count[stem]++; count[stem] > 1 {
			name += "-" + strconv.Itoa(count[stem])
		}
		f, err := s.file(filepath.Join(out, name+".yml"), []*Pipeline{p})
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return files, nil
}

// file makes the file with the sources of pipelines. No more may read it than each of them.
func (s *Set) file(path string, pipelines []*Pipeline) (File, error) {
	f := File{Path: path, mode: 0o644}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, p := range pipelines {
		if len(p.sources) == 0 {
			continue
		}
		f.mode &= p.mode | 0o600
		own, err := p.moved()
		if err != nil {
			return File{}, unreadable{fmt.Errorf("%s: %w", p.Path, err)}
		}
		list.Content = append(list.Content, own...)
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: blockKey}, list}}
	var err error
	if f.Data, err = encode(root); err != nil {
		return File{}, err
	}
	again, err := parse(f.Data)
	if err == nil && !same(again.Content[0], root) {
		err = errors.New("the sources would not be the same")
	}
	if err != nil {
		return File{}, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func encode(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := errors.Join(e.Encode(n), e.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// moved are copies of the sources of a pipeline, each with a format, with what the
// pipeline says about the block in front of them.
func (p *Pipeline) moved() ([]*yaml.Node, error) {
	c := &copier{inside: make(map[*yaml.Node]bool)}
	for _, source := range p.sources {
		c.note(source)
	}
	var list []*yaml.Node
	for _, source := range p.sources {
		n, err := c.copy(source, 0)
		if err != nil {
			return nil, err
		}
		if n.Kind == yaml.MappingNode && member(source, "format") == nil {
			addFormat(n)
		}
		list = append(list, n)
	}
	key, value := p.key(), p.value()
	about := []string{p.above(), key.LineComment, value.HeadComment, value.LineComment}
	list[0].HeadComment = lines(append(about, list[0].HeadComment)...)
	last := list[len(list)-1]
	last.FootComment = lines(last.FootComment, value.FootComment)
	if lost := p.lost(list); lost != "" {
		list[0].HeadComment = lines(lost, list[0].HeadComment)
	}
	return list, nil
}

// lines puts comments below each other.
func lines(comments ...string) string {
	var kept []string
	for _, c := range comments {
		if c != "" {
			kept = append(kept, c)
		}
	}
	return strings.Join(kept, "\n")
}

// addFormat says that a source is JSON, behind its type.
func addFormat(source *yaml.Node) {
	at := len(source.Content)
	for i := 0; i+1 < len(source.Content); i += 2 {
		if source.Content[i].Value == "type" {
			at = i + 2
		}
	}
	format := []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: "format"}, {Kind: yaml.ScalarNode, Tag: "!!str", Value: "json"}}
	source.Content = append(source.Content[:at:at], append(format, source.Content[at:]...)...)
}

// maxCopied is how many nodes aliases may become.
const maxCopied = 100_000

// copier copies nodes. What refers to a part of the pipeline that stays becomes a copy of
// that part.
type copier struct {
	inside map[*yaml.Node]bool // nodes that are copied with their anchors
	copied int
}

func (c *copier) note(n *yaml.Node) {
	c.inside[n] = true
	for _, m := range n.Content {
		c.note(m)
	}
}

func (c *copier) copy(n *yaml.Node, depth int) (*yaml.Node, error) {
	if c.copied++; c.copied > maxCopied || depth > 1000 {
		return nil, fmt.Errorf("line %d: aliases make too much of the sources", n.Line)
	}
	own := *n
	if own.Content = nil; n.Tag == mergeTag { // written as it was
		own.Tag = ""
	}
	if n.Kind == yaml.AliasNode {
		if c.inside[n.Alias] {
			return &own, nil
		}
		whole, err := c.copy(n.Alias, depth+1)
		if err != nil {
			return nil, err
		}
		whole.Anchor, whole.HeadComment, whole.LineComment, whole.FootComment = "", n.HeadComment, n.LineComment, n.FootComment
		return whole, nil
	}
	if !c.inside[n] {
		own.Anchor = ""
	}
	for _, m := range n.Content {
		part, err := c.copy(m, depth+1)
		if err != nil {
			return nil, err
		}
		own.Content = append(own.Content, part)
	}
	return &own, nil
}

// Write makes the files, and the directories that they are in. It overwrites none.
func Write(files []File) error {
	for _, f := range files {
		if err := f.write(); err != nil {
			return err
		}
	}
	return nil
}

func (f *File) write() (err error) {
	if err := disk.MakeDirectory(filepath.Dir(f.Path), 0o755); err != nil {
		return err
	}
	out, err := os.OpenFile(f.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, f.mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists already; name another file or remove it", f.Path)
	}
	if err != nil {
		return err
	}
	_, err = out.Write(f.Data)
	if err := errors.Join(err, out.Sync(), out.Close()); err != nil {
		return err
	}
	return disk.SyncDirectory(filepath.Dir(f.Path))
}
