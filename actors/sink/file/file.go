// Package file appends messages as lines to a file.
//
// A line is never torn or repeated: what the kernel took of a line is remembered,
// and a retry goes on at the first byte it did not take. The file is opened anew
// when its path names another one, so that both ways of rotating logs work.
package file

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/sluicehq/sluice/graph"
)

// lookEvery is how often the path is compared with the open file.
const lookEvery = time.Second

// Transport writes to one file. Reopen may be called from any goroutine, the
// other methods belong to one sink.
type Transport struct {
	path  string
	now   func() time.Time
	file  *os.File // nil while a FIFO has no reader, or after a failed reopen
	fifo  bool
	next  time.Time   // when to compare path and file again
	stale atomic.Bool // Reopen was called
	taken int         // bytes of the first unconfirmed line that are written
	torn  bool        // the file ends within a line that nobody goes on with
	buf   []byte
}

// Check reports a target that is no path.
func Check(path string) error {
	if path == "" {
		return errors.New("a file sink needs a path")
	}
	return nil
}

// Open opens path for appending and creates it if it is missing. A FIFO without
// a reader is no error: its writes fail until there is one.
func Open(path string, now func() time.Time) (*Transport, error) {
	t := &Transport{path: path, now: now}
	if err := t.open(); err != nil && !errors.Is(err, errNoReader) {
		return nil, fmt.Errorf("open sink file: %w", err)
	}
	t.next = now().Add(lookEvery)
	return t, nil
}

// errNoReader is the state of a FIFO that nobody reads.
var errNoReader = errors.New("no process reads the FIFO")

func (t *Transport) open() error {
	info, err := os.Stat(t.path)
	t.fifo = err == nil && info.Mode()&fs.ModeNamedPipe != 0
	flags := os.O_WRONLY | os.O_APPEND | os.O_CREATE
	if t.fifo {
		flags = os.O_WRONLY | syscall.O_NONBLOCK
	}
	f, err := os.OpenFile(t.path, flags, 0o640)
	if t.fifo && errors.Is(err, syscall.ENXIO) {
		return fmt.Errorf("open %s: %w", t.path, errNoReader)
	}
	if err != nil {
		return err
	}
	t.file, t.torn = f, !t.fifo && endsTorn(t.path)
	return nil
}

// endsTorn reports whether the file ends within a line, as a crash or a full disk
// of an earlier process may have left it. Of what is no regular file, or may not
// be read, nobody knows.
func endsTorn(path string) bool {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	var last [1]byte
	_, err = f.ReadAt(last[:], info.Size()-1)
	return err == nil && last[0] != '\n'
}

// bufferBytes is about how much is given to the kernel at once, unless one line is
// longer.
const bufferBytes = 256 << 10

// WriteLines is Write for messages of which the bodies lie in one text, each with a line
// feed behind it. They are not copied.
func (t *Transport) WriteLines(ctx context.Context, messages []graph.Message, lines []byte) (confirmed int, err error) {
	if err := t.prepare(); err != nil {
		return 0, err
	}
	if t.torn || t.taken > 0 {
		return t.writeAll(ctx, messages)
	}
	written, err := t.write(ctx, lines)
	if written == len(lines) && err == nil {
		return len(messages), nil
	}
	return t.settle(messages, max(written, 0)), t.failed(err)
}

// Write appends messages as lines, as many as the buffer takes with one write call, and
// returns how many of them the kernel took whole.
func (t *Transport) Write(ctx context.Context, messages []graph.Message) (confirmed int, err error) {
	if err := t.prepare(); err != nil {
		return 0, err
	}
	return t.writeAll(ctx, messages)
}

func (t *Transport) writeAll(ctx context.Context, messages []graph.Message) (confirmed int, err error) {
	for confirmed < len(messages) && err == nil {
		var n int
		n, err = t.writeSome(ctx, messages[confirmed:])
		confirmed += n
	}
	if cap(t.buf) > 2*bufferBytes {
		t.buf = nil
	}
	return confirmed, t.failed(err)
}

// failed closes a FIFO whose reader is gone: the next attempt looks for another.
func (t *Transport) failed(err error) error {
	if err != nil && t.fifo {
		t.drop()
	}
	return err
}

// writeSome appends the leading messages that the buffer takes.
func (t *Transport) writeSome(ctx context.Context, messages []graph.Message) (confirmed int, err error) {
	t.buf = t.buf[:0]
	if t.torn {
		t.buf = append(t.buf, '\n')
	}
	lead, n := len(t.buf), 0
	for n < len(messages) && (n == 0 || len(t.buf)+len(messages[n].Body) < bufferBytes) {
		t.buf = append(append(t.buf, messages[n].Body...), '\n')
		n++
	}
	t.buf = slices.Delete(t.buf, lead, lead+t.taken)
	written, err := t.write(ctx, t.buf)
	if written >= lead {
		t.torn = false
	}
	return t.settle(messages[:n], max(written-lead, 0)), err
}

// write writes a text. Only FIFOs can wait for room; the end of ctx ends it.
func (t *Transport) write(ctx context.Context, text []byte) (int, error) {
	if t.fifo {
		f := t.file
		stop := context.AfterFunc(ctx, func() { _ = f.SetWriteDeadline(time.Unix(1, 0)) })
		defer stop()
	}
	return t.file.Write(text)
}

// settle distributes n written bytes over the lines of messages.
func (t *Transport) settle(messages []graph.Message, n int) (confirmed int) {
	n += t.taken
	for confirmed < len(messages) && n > len(messages[confirmed].Body) {
		n -= len(messages[confirmed].Body) + 1
		confirmed++
	}
	t.taken = n
	return confirmed
}

// prepare makes the file ready for the next line.
func (t *Transport) prepare() error {
	if err := t.follow(); err != nil {
		return err
	}
	if (t.taken > 0 || t.torn) && t.emptied() {
		t.taken, t.torn = 0, false
	}
	return nil
}

// emptied reports whether the line that broke off is no longer in the file: a rotation may
// truncate it, or somebody whose disk is full.
func (t *Transport) emptied() bool {
	info, err := t.file.Stat()
	return err == nil && info.Mode().IsRegular() && info.Size() == 0
}

// follow opens the file that the path names now, if it is another one.
func (t *Transport) follow() error {
	now := t.now()
	stale := t.stale.Swap(false)
	if t.file != nil && !stale && now.Before(t.next) {
		return nil
	}
	t.next = now.Add(lookEvery)
	if t.file != nil && t.current() {
		return nil
	}
	t.drop()
	return t.open()
}

func (t *Transport) current() bool {
	named, err := os.Stat(t.path)
	if err != nil {
		return false
	}
	open, err := t.file.Stat()
	return err == nil && os.SameFile(named, open)
}

// drop closes the file. A line begun in it is written whole into the next one.
func (t *Transport) drop() {
	if t.file != nil {
		_ = t.file.Close()
		t.file = nil
	}
	t.taken, t.torn = 0, false
}

// Abandon forgets a line that broke off; the next line does not continue it.
func (t *Transport) Abandon() {
	t.torn = t.torn || t.taken > 0
	t.taken = 0
}

// Reopen makes the next write compare path and open file at once.
func (t *Transport) Reopen() { t.stale.Store(true) }

// Close writes what the system still buffers to the disk and closes the file.
func (t *Transport) Close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil // pipes and devices cannot be synced
	}
	return errors.Join(err, t.file.Close())
}
