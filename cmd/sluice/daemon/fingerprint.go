package daemon

import (
	"context"
	"crypto/sha256"
	"io"
	"os"
	"time"

	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/packed"
)

// input is a file that rules are made of, as it was when it was looked at. What
// a link points to counts, not the link.
type input struct {
	Path    string
	Size    int64
	ModTime int64 // Unix nanoseconds; 0 when it says nothing about the content
	Inode   uint64
	SHA256  [sha256.Size]byte
	Missing bool // it cannot be read, so that it becoming readable is a change
}

// fresh is how young a file may be for its modification time to say nothing: it
// may change again within the granularity of the clock.
const fresh = 2 * time.Second

// inputNames lists every rule and pipeline file in load order. Names of built-in
// pipelines are among them.
func (r *rules) inputNames(ctx context.Context) ([]string, error) {
	files, err := load.Files(ctx, r.cfg.Rules)
	if err != nil {
		return nil, &Fault{Code: exitRules, Err: err}
	}
	return append(files, r.cfg.Pipelines...), nil
}

// survey looks at every file. One that is as it was when known looked at it is
// not read again; others are. It reports whether any was read. The error is that of
// ctx.
func survey(ctx context.Context, names []string, known []input, now time.Time) (found []input, read bool, err error) {
	found = make([]input, len(names))
	for i, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		in := stat(name, now)
		if i < len(known) && in.trusts(&known[i]) {
			in.SHA256 = known[i].SHA256
		} else if !in.Missing {
			read = true
			var err error
			in.SHA256, err = digest(name, in.Size)
			in.Missing = err != nil
		}
		found[i] = in
	}
	return found, read, nil
}

// trusts reports whether the file is certainly what it was.
func (in *input) trusts(was *input) bool {
	return !in.Missing && !was.Missing && in.ModTime != 0 &&
		in.Path == was.Path && in.Size == was.Size && in.ModTime == was.ModTime && in.Inode == was.Inode
}

func stat(name string, now time.Time) input {
	in := input{Path: name}
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		in.Missing = true // reading a pipe or a device may never end
		return in
	}
	in.Size, in.Inode = info.Size(), inode(info)
	if now.Sub(info.ModTime()) > fresh {
		in.ModTime = info.ModTime().UnixNano()
	}
	return in
}

// fingerprint is a digest of the names and contents.
func fingerprint(inputs []input) [32]byte {
	var all []byte
	for i := range inputs {
		in := &inputs[i]
		all = packed.AppendBool(append(packed.AppendText(all, in.Path), in.SHA256[:]...), in.Missing)
	}
	return sha256.Sum256(all)
}

// digest reads with a buffer about as large as the file: rule files are small and many.
func digest(name string, size int64) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	buf := make([]byte, min(size+512, 32<<10))
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, buf); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}
