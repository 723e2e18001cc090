package load

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/internal/parallel"
)

// File is a file as it was when it was read. What a link points to counts, not
// the link.
type File struct {
	Path       string
	Name       string // as problems and results show it
	Size       int64
	ModTime    int64 // Unix nanoseconds; 0 when the facts say nothing about the content
	ChangeTime int64 // Unix nanoseconds of the last change of content, name or rights
	Inode      uint64
	SHA256     [sha256.Size]byte
	Missing    bool // it could not be read, so that it becoming readable is a change
}

// fresh is how young a file may be for its modification time to say nothing: it
// may change again within the granularity of the clock.
const fresh = 2 * time.Second

// Same reports whether both have the same name and content.
func (f *File) Same(other *File) bool {
	return f.Path == other.Path && f.Name == other.Name && f.SHA256 == other.SHA256 && f.Missing == other.Missing
}

// trusts reports whether the file is certainly what it was.
func (f *File) trusts(was *File) bool {
	return !f.Missing && !was.Missing && f.ModTime != 0 && f.Path == was.Path && f.Size == was.Size &&
		f.ModTime == was.ModTime && f.ChangeTime == was.ChangeTime && f.Inode == was.Inode
}

// Survey finds out how files are now. One that is certainly as it was when known
// was made, which lists the same files, is not read. Survey reports whether any
// was read at that time. The error is that of ctx, which is looked at before each file.
func Survey(ctx context.Context, found []Source, known []File, at time.Time) (now []File, read bool, err error) {
	now = make([]File, len(found))
	var reads atomic.Bool
	err = parallel.For(ctx, len(found), func(i int) {
		s := &found[i]
		f, err := s.look(at)
		if err == nil && f.trusts(&known[i]) {
			f.SHA256 = known[i].SHA256
		} else if f, err = s.read(at, nil); err == nil {
			reads.Store(true)
		}
		f.Missing = err != nil
		now[i] = f
	})
	return now, reads.Load(), err
}

// look finds out about a file without reading it.
func (s *Source) look(now time.Time) (File, error) {
	if s.err != nil {
		return File{}, s.err
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return File{}, err
	}
	return s.facts(info, now)
}

func (s *Source) facts(info fs.FileInfo, now time.Time) (File, error) {
	f := File{Path: s.path, Name: s.name}
	if !info.Mode().IsRegular() { // reading a pipe or a device may never end
		return f, errIrregular
	}
	f.Size = info.Size()
	var known bool
	if f.Inode, f.ChangeTime, known = identity(info); known && now.Sub(info.ModTime()) > fresh {
		f.ModTime = info.ModTime().UnixNano()
	}
	return f, nil
}

// contents are buffers for the content of files.
var contents = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// read reads a file that was found. The facts are from before the content, which
// use, when not nil, borrows.
func (s *Source) read(now time.Time, use func(f File, data []byte)) (f File, err error) {
	f = File{Path: s.path, Name: s.name}
	if s.err != nil {
		return f, s.err
	}
	r, err := open(s.path)
	if err != nil {
		return f, reason(err)
	}
	defer func() { _ = r.Close() }() // only read from
	info, err := r.Stat()
	if err != nil {
		return f, reason(err)
	}
	if f, err = s.facts(info, now); err != nil {
		return f, err
	}
	content := contents.Get().(*bytes.Buffer)
	defer contents.Put(content)
	content.Reset()
	if _, err := content.ReadFrom(r); err != nil {
		return f, reason(err)
	}
	f.SHA256 = sha256.Sum256(content.Bytes())
	if use != nil {
		use(f, content.Bytes())
	}
	return f, nil
}
