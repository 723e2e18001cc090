package command

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
)

// extent is how large the files are that are read, and how much of them has been.
type extent struct {
	size    int64
	offsets []func() int64
	open    bool // the end of some input is not known
}

// add takes up an input of known size.
func (x *extent) add(size int64, offset func() int64) {
	x.size += size
	x.offsets = append(x.offsets, offset)
}

// endless takes up an input whose end is not known.
func (x *extent) endless() { x.open = true }

// of takes up a file and returns the reader that counts what is read of it.
func (x *extent) of(f *os.File) io.Reader {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		x.endless()
		return f
	}
	c := &counted{Reader: f}
	x.add(info.Size(), c.n.Load)
	return c
}

// text says which part has been read, behind other figures. It is empty when that is not
// known.
func (x *extent) text() string {
	if x == nil || x.open || x.size == 0 {
		return ""
	}
	var read int64
	for _, offset := range x.offsets {
		read += offset()
	}
	return fmt.Sprintf(", %d%% of %s", min(read*100/x.size, 100), byteSize(x.size))
}

// counted counts what is read.
type counted struct {
	io.Reader
	n atomic.Int64
}

func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Reader.Read(b)
	c.n.Add(int64(n))
	return n, err
}

// byteSize writes a number of bytes in a unit that fits.
func byteSize(n int64) string {
	const unit = 1024
	switch {
	case n < unit:
		return fmt.Sprintf("%d B", n)
	case n < unit*unit:
		return fmt.Sprintf("%.0f KiB", float64(n)/unit)
	case n < unit*unit*unit:
		return fmt.Sprintf("%.1f MiB", float64(n)/(unit*unit))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(unit*unit*unit))
}
