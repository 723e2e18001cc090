package load

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/parallel"
	"github.com/sluicehq/sluice/sigma/packed"
)

// Documents are the documents of a set of files, in load order: parsed, with what
// parsing rejected and warned of, each template applied, before filters are merged
// and pipelines run. They never change once they are sealed.
type Documents struct{ files []*file }

// file is one file and what is in it.
type file struct {
	File
	docs   []parsed         // nil for those that packed stands for
	roots  []*document.Node // of docs, until they are sealed
	packed string           // docs as Append writes them, when they were read so
	common bool             // docs have parts in common
	whole  int              // bytes, about, of docs with a copy of these parts in each
}

// documents returns what is in the file.
func (f *file) documents() []parsed {
	docs := f.docs
	if docs == nil && f.packed != "" {
		_ = packed.Read(f.packed, &docs) // Unpack has read it before
	}
	return docs
}

func (f *file) add(d *draft) { f.docs, f.roots = append(f.docs, d.parsed), append(f.roots, d.root) }

// as returns the same documents of a file as it is now.
func (f *file) as(now File) *file {
	return &file{File: now, docs: f.docs, packed: f.packed, common: f.common, whole: f.whole}
}

// root returns the content of a document, nil when its identity stands for it.
func (f *file) root(i int) *document.Node {
	if f.roots == nil {
		return nil
	}
	return f.roots[i]
}

// Seal takes the digests of all documents that have none yet, and releases the
// content they were read from, of documents that were unpacked all but their bytes. Documents that are kept or written have to be
// sealed; Seal may run beside the compilation of what was collected of them, and
// beside nothing else that uses them.
func (d *Documents) Seal() {
	for _, f := range d.files {
		digests := make(document.Digests)
		for i, root := range f.roots {
			if root != nil {
				f.docs[i].Identity = digests.Sum(root)
			}
		}
		f.roots = nil
		if f.packed != "" {
			f.docs = nil
		}
	}
}

// Read parses the files found, on all cores. What a file gave when known was read,
// which may be nil, is taken over when the file has not changed; known is sealed. Of the options,
// those that exclude rules matter. The error is that of ctx, which is looked at
// before each file, or of options that do not parse.
func Read(ctx context.Context, found []Source, o Options, known *Documents) (*Documents, error) {
	p, err := newParser(&o)
	if err != nil {
		return nil, err
	}
	before := known.byPath()
	out := &Documents{files: make([]*file, len(found))}
	err = parallel.For(ctx, len(found), func(i int) { out.files[i] = p.read(&found[i], before[found[i].path], o.Now) })
	if err != nil {
		return nil, err
	}
	return out, nil
}

// read reads one file; before may be nil.
func (p *parser) read(s *Source, before *file, now time.Time) *file {
	if before != nil && before.Name == s.name {
		if f, err := s.look(now); err == nil && f.trusts(&before.File) {
			f.SHA256 = before.SHA256
			return before.as(f)
		}
	}
	var out *file
	f, err := s.read(now, func(f File, data []byte) {
		if before != nil && before.Name == f.Name && !before.Missing && before.SHA256 == f.SHA256 {
			out = before.as(f)
		} else {
			out = p.file(f, data)
		}
	})
	if err != nil {
		return unreadable(f, err)
	}
	return out
}

func (d *Documents) byPath() map[string]*file {
	if d == nil {
		return nil
	}
	out := make(map[string]*file, len(d.files))
	for _, f := range d.files {
		out[f.Path] = f
	}
	return out
}

// Files lists what the documents were read from, in load order.
func (d *Documents) Files() []File {
	out := make([]File, len(d.files))
	for i, f := range d.files {
		out[i] = f.File
	}
	return out
}

// Same reports whether both were read from files of the same names and contents.
func (d *Documents) Same(other *Documents) bool {
	if len(d.files) != len(other.files) {
		return false
	}
	for i, f := range d.files {
		if !f.Same(&other.files[i].File) {
			return false
		}
	}
	return true
}

// maxWritten bounds the bytes, about, that documents of a file take which templates
// made: each is written with its own copy of what they have in common.
const maxWritten = 64 << 20

// Append appends the documents, which are sealed, to dst, for Unpack by the same build.
// The error names a file that a template multiplies too much.
func (d *Documents) Append(dst []byte) ([]byte, error) {
	var docs []byte
	var err error
	for _, f := range d.files {
		if f.packed != "" {
			dst = packed.AppendText(dst, f.packed)
			continue
		}
		if f.whole > maxWritten {
			return nil, fmt.Errorf("%s: templates multiply its documents to about %d bytes, the limit is %d", f.Name, f.whole, maxWritten)
		}
		if docs, err = packed.Append(docs[:0], f.docs); err != nil {
			return nil, err
		}
		dst = packed.AppendText(dst, string(docs))
	}
	return dst, nil
}

// Unpack gives the documents of which Append wrote data, with their files. It
// shares the memory of data. The error wraps packed.ErrDamaged.
func Unpack(data string, files []File) (*Documents, error) {
	r := packed.NewReader(data)
	out := &Documents{files: make([]*file, len(files))}
	for i := range files {
		out.files[i] = &file{File: files[i], packed: r.Text()}
	}
	if err := r.End(); err != nil {
		return nil, err
	}
	errs := make([]error, len(files))
	_ = parallel.For(context.Background(), len(files), func(i int) {
		f := out.files[i]
		errs[i] = packed.Read(f.packed, &f.docs)
	})
	return out, errors.Join(errs...)
}
