package sources

import (
	"context"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/state"
)

// Intake is where a source hands over what it read: the input queue.
type Intake interface {
	// Put admits the lines of run in order and waits while there is no room. It
	// returns how many were admitted, fewer than all of them only with an
	// error: ctx ended, or the daemon is draining. The shares that admitted lines
	// have of their buffers go with them; run stays the caller's.
	Put(ctx context.Context, run []graph.Line) (admitted int, err error)

	// Oversize counts a line longer than MaxLine, shows its excerpt to the dead
	// letter queue and sees to it that token is settled.
	Oversize(ctx context.Context, excerpt []byte, token graph.Token) error
}

// Source is an input.
type Source interface {
	// Run reads and hands over until the source has ended, ctx ends or the
	// intake refuses. It returns nil in all three cases; an error says what broke
	// the source. Nothing is handed over after Run has returned, and it returns
	// soon after the end of ctx, whatever it was waiting for.
	Run(ctx context.Context, in Intake) error
}

// Connection is how a source stands with the server that it reads from.
type Connection struct {
	Input     string    `json:"input" doc:"As --input names it"` // for who lists inputs to fill in
	Connected bool      `json:"connected"`
	Since     time.Time `json:"since,omitzero" doc:"Since when it is so"`
	LastError string    `json:"last_error,omitempty" doc:"The last error of the connection, also of one that was mended"`
}

// Connected is a source that reads from a server, which may be away.
type Connected interface {
	Source
	// Connection may be asked from any goroutine.
	Connection() Connection
}

// Redelivering is a source whose origin delivers again what is not acknowledged.
// Its lines have a position, and it goes on acknowledging when Run has returned.
type Redelivering interface {
	Source
	// Positions is the account of its messages, usually a Ledger. A restored state
	// is told to it before Run.
	Positions() Positions
	// Close sends the acknowledgements that are due, for as long as ctx lasts, and
	// lets go of the origin. Run has returned, or was never called.
	Close(ctx context.Context) error
}

// Positions is what checkpoints need of a source that delivers again. Ledger says
// what each method promises.
type Positions interface {
	Restore(positions []state.Position, covered []state.Covered)
	Early() <-chan struct{}
	Cover(epoch uint64) ([]state.Position, []state.Covered)
	Saved(epoch uint64)
	Unreleased() int
}

// Pump hands the lines of a stream over.
type Pump struct {
	Intake Intake
	// Receipt makes the receipt of a run. Without it lines carry no token.
	Receipt func(lines int) *graph.Receipt
	// StopAtOversize ends the stream at the first line that is too long.
	StopAtOversize bool

	texts []Text // memory of Run's
	run   []graph.Line
	most  int // texts at once, since they were last forgotten
}

// Run hands over the texts of r until the stream ends, in runs of what has been
// read, closes r and returns how many were admitted. A nil error means the end of
// the stream. Errors of the stream are *ReadError, an oversize line at which the
// pump stops is ErrOversize, anything else comes from the intake. A pump can run
// again when it has returned.
func (p *Pump) Run(ctx context.Context, r Reader) (admitted int, err error) {
	defer r.Close()
	for paused := true; paused && err == nil; {
		var n int
		n, paused, err = p.Available(ctx, r)
		admitted += n
	}
	return admitted, err
}

// Available is Run up to a pause of the stream, which leaves r open. It keeps nothing of
// what it handed over, so pumps can be shared by streams that pause.
func (p *Pump) Available(ctx context.Context, r Reader) (admitted int, paused bool, err error) {
	defer p.forget()
	for {
		p.texts, err = r.Next(p.texts[:0])
		if err != nil {
			return admitted, false, streamError(err)
		}
		texts := p.texts
		if len(texts) == 0 {
			return admitted, true, nil
		}
		p.most = max(p.most, len(texts))
		for len(texts) > 0 {
			run := p.run[:0]
			for len(texts) > 0 && !texts[0].Oversize {
				run = append(run, graph.Line{Raw: texts[0].Bytes, Buffer: texts[0].Buffer, Structured: texts[0].Value, Held: uint32(texts[0].Held)})
				texts = texts[1:]
			}
			p.run = run
			n, err := p.put(ctx, run)
			admitted += n
			if err != nil {
				return admitted, false, err
			}
			if len(texts) == 0 {
				break
			}
			if err := p.oversize(ctx, texts[0].Bytes); err != nil {
				return admitted, false, err
			}
			texts = texts[1:]
		}
	}
}

// forget keeps the memory and drops what it refers to.
func (p *Pump) forget() {
	clear(p.texts[:p.most])
	clear(p.run[:min(p.most, cap(p.run))])
	p.most = 0
}

// put hands over one run. What is not admitted is taken back from its receipt.
func (p *Pump) put(ctx context.Context, run []graph.Line) (int, error) {
	if len(run) == 0 {
		return 0, nil
	}
	if p.Receipt == nil {
		n, err := p.Intake.Put(ctx, run)
		graph.ReleaseLines(run[n:])
		return n, err
	}
	receipt := p.Receipt(len(run))
	for i := range run {
		run[i].Token = receipt.Token(i)
	}
	n, err := p.Intake.Put(ctx, run)
	receipt.Withdraw(n)
	graph.ReleaseLines(run[n:])
	return n, err
}

func (p *Pump) oversize(ctx context.Context, excerpt []byte) error {
	if err := p.Intake.Oversize(ctx, excerpt, graph.Token{}); err != nil {
		return err
	}
	if p.StopAtOversize {
		return ErrOversize
	}
	return nil
}
