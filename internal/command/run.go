package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/sluicehq/sluice/internal/await"
)

// Bounds of every program.
const (
	MaxStderr  = 64 << 10               // bytes of standard error that are kept
	killedWait = 100 * time.Millisecond // for what was killed to let go of the pipes
)

// grace is for descendants that hold the pipes when the program has exited. Tests of what
// they do with it have more.
var grace = time.Second

// Options say what to run.
type Options struct {
	// Argv is the program, looked up in PATH if it has no slash, and its arguments.
	Argv []string
	// Env is the environment; nil is that of the process. Environ makes one of a list of
	// names.
	Env []string
	// Dir is the working directory; empty is that of the process.
	Dir string
	// MaxStdout is how many bytes of standard output are allowed.
	MaxStdout int64
}

// Output is what a program wrote.
type Output struct {
	Stdout []byte
	Stderr []byte // its first MaxStderr bytes
}

// ExitError is the error of a program that ended by itself, but not well.
type ExitError struct {
	Status string // such as "exit status 3" and "signal: killed"
	Stderr string // without white space around it
}

// Error is the status and what the program said.
func (e *ExitError) Error() string {
	if e.Stderr == "" {
		return "command exited with " + e.Status
	}
	return "command exited with " + e.Status + ": " + e.Stderr
}

// LimitError is the error of a program that was killed for what it wrote.
type LimitError struct{ Limit int64 }

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("command stdout exceeds %d byte limit", e.Limit)
}

// Run runs a program to its end. When ctx ends first, the error is that of ctx; other
// errors are an *ExitError, a *LimitError, or say why the program could not be started.
// With an error, Output holds what was read until then. Of the program's group nothing is
// left that still held its output; nothing but argv[0] stands in errors, beside what the
// program wrote to standard error.
func Run(ctx context.Context, o Options) (Output, error) {
	if len(o.Argv) == 0 || o.Argv[0] == "" {
		return Output{}, errors.New("no program is named")
	}
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	stdout, err := newPipe()
	if err != nil {
		return Output{}, err
	}
	defer stdout.close()
	stderr, err := newPipe()
	if err != nil {
		return Output{}, err
	}
	defer stderr.close()
	cmd := exec.Command(o.Argv[0], o.Argv[1:]...)
	cmd.Env, cmd.Dir = o.Env, o.Dir
	cmd.Stdout, cmd.Stderr = stdout.write, stderr.write // files: the program writes to them itself
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return Output{}, err
	}
	stdout.started()
	stderr.started()
	r := run{process: cmd.Process, over: make(chan struct{}), limit: o.MaxStdout}
	stdout.drain(r.readStdout)
	stderr.drain(r.readStderr)
	state, err := r.end(ctx, stdout, stderr)
	stdout.close()
	stderr.close()
	out := Output{Stdout: r.stdout, Stderr: r.stderr}
	if err == nil && !state.Success() {
		err = &ExitError{state.String(), string(bytes.TrimSpace(r.stderr))}
	}
	return out, err
}

// run is a program that was started.
type run struct {
	process        *os.Process
	limit          int64
	stdout, stderr []byte
	over           chan struct{} // closed when standard output has passed its limit
}

func (r *run) readStdout(from io.Reader) {
	data, _ := io.ReadAll(io.LimitReader(from, r.limit+1)) // an error is the end: nobody writes any more, or nobody reads
	if int64(len(data)) > r.limit {
		r.stdout = data[:r.limit]
		close(r.over)
		return
	}
	r.stdout = data
}

func (r *run) readStderr(from io.Reader) {
	r.stderr, _ = io.ReadAll(io.LimitReader(from, MaxStderr))
	_, _ = io.Copy(io.Discard, from)
}

// end waits for the program, or ends it.
func (r *run) end(ctx context.Context, pipes ...*pipe) (*os.ProcessState, error) {
	var reap func() (*os.ProcessState, error)
	exited := make(chan struct{})
	go func() {
		defer close(exited)
		reap = awaitExit(r.process)
	}()
	reason := r.stop(ctx, exited, pipes)
	<-exited
	settle(killedWait, pipes)
	state, err := reap()
	if reason == nil && r.passed() {
		reason = &LimitError{r.limit}
	}
	if reason != nil {
		err = reason
	}
	return state, err
}

// stop waits until the program exits, and otherwise ends it. The error says that its time
// was over; a program that has exited was in time.
func (r *run) stop(ctx context.Context, exited <-chan struct{}, pipes []*pipe) error {
	select {
	case <-exited:
	case <-ctx.Done():
	case <-r.over:
	}
	switch {
	case await.Closed(exited):
		// Not reaped yet: until then nobody else can have the number of its group.
		if !settle(grace, pipes) || r.passed() {
			killGroup(r.process)
		}
	case r.passed():
		killGroup(r.process)
	default:
		killGroup(r.process)
		return ctx.Err()
	}
	return nil
}

// passed reports whether standard output has passed its limit.
func (r *run) passed() bool { return await.Closed(r.over) }

// settle waits until both pipes have ended, for a while. What is still read then ends as
// the pipes are closed. It reports whether they have ended by themselves.
func settle(patience time.Duration, pipes []*pipe) bool {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, p := range pipes {
		if !await.Done(ctx, p.done, 0) {
			return false
		}
	}
	return true
}

// pipe is one stream of a program.
type pipe struct {
	read, write *os.File
	done        chan struct{} // closed when reading has ended; nil while nobody reads
}

func newPipe() (*pipe, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	return &pipe{read: r, write: w}, nil
}

// started gives up the end that the program has now.
func (p *pipe) started() {
	_ = p.write.Close()
	p.write = nil
}

func (p *pipe) drain(read func(io.Reader)) {
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		read(p.read)
	}()
}

// close ends reading, whoever holds the other end, and waits for that. It may be called
// again.
func (p *pipe) close() {
	if p.write != nil {
		_ = p.write.Close()
	}
	_ = p.read.Close()
	if p.done != nil {
		<-p.done
	}
}
