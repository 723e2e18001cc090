package ingest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sources"
)

// Permission is what clients need, over HTTP and over gRPC.
const Permission = "events:ingest"

// ErrDraining refuses a request because the daemon is shutting down. Records that were
// taken before stay.
var ErrDraining = errors.New("event channel closed")

// Intake takes in requests. It may be used by any number of them at once.
type Intake struct {
	in      sources.Intake
	maxBody int64
	metrics *Metrics
	budget  *budget
	bodies  bodies
	buffers sources.Buffers
	passes  sync.Pool
}

// NewIntake returns an intake that hands over to in. A request may have maxBody bytes,
// once inflated.
func NewIntake(in sources.Intake, maxBody int64, m *Metrics) *Intake {
	n := &Intake{in: in, maxBody: maxBody, metrics: m, budget: newBudget(largeBodies * maxBody)}
	n.passes.New = func() any { return &pass{intake: n} }
	return n
}

// MaxBody is how many bytes a request may have, once inflated.
func (n *Intake) MaxBody() int64 { return n.maxBody }

// Outcome is what became of a request that was taken.
type Outcome struct {
	JSON     bool // it was JSON
	Foreign  bool // it has members, and none of them is one of a request
	Rejected int  // records that are longer than an event may be
}

// Message says why records were rejected, or that there is nothing to take where something
// was meant; it is empty when all is well.
func (o Outcome) Message() string {
	switch {
	case o.Foreign:
		return "the request has no resourceLogs: events are sent to POST /api/v1/events"
	case o.Rejected == 0:
		return ""
	}
	return fmt.Sprintf("log records that exceed the maximum size of an event (%d bytes): %d", sources.MaxLine, o.Rejected)
}

// take hands over the records of a request that has been checked.
func (n *Intake) take(ctx context.Context, t transport, request []byte) (rejected int, err error) {
	p := n.passes.Get().(*pass)
	rejected, err = p.request(ctx, request)
	p.forget()
	n.passes.Put(p)
	if err != nil && ctx.Err() == nil {
		n.metrics.refused(t, reasonClosed)
		return rejected, ErrDraining
	}
	return rejected, err
}

const (
	// runBytes is how much of the records of a request is handed over at once, but for
	// a record that is longer.
	runBytes = 64 << 10
	// keptBytes is how much memory a pass keeps for the next request.
	keptBytes = 256 << 10
	// keptMembers is how many members it keeps room for.
	keptMembers = 4 << 10
)

// pass is the way of one request through the intake, with memory that is used again.
type pass struct {
	intake    *Intake
	flattener flattener

	texts    []byte // events that are to be handed over, one behind the other
	ends     []int
	run      []graph.Line
	rejected int
}

// forget keeps memory that is not too much, and drops what it refers to.
func (p *pass) forget() {
	p.texts, p.ends, p.rejected = p.texts[:0], p.ends[:0], 0
	if cap(p.texts) > keptBytes {
		p.texts = nil
	}
	clear(p.run[:cap(p.run)])
	f := &p.flattener
	f.record, f.pairs = record{}, [len(f.pairs)][]byte{}
	if cap(f.block)+cap(f.names) > keptBytes {
		f.block, f.names = nil, nil
	}
	for _, m := range []*members{&f.members, &f.around} {
		if cap(m.list) > keptMembers {
			*m = members{}
		}
		clear(m.list[:cap(m.list)])
	}
}

func (p *pass) request(ctx context.Context, b []byte) (rejected int, err error) {
	for len(b) > 0 {
		f, n := next(b)
		if n < 0 {
			break
		}
		b = b[n:]
		if f.tag != resourceLogs {
			continue
		}
		if err := p.resource(ctx, f.content); err != nil {
			return p.rejected, err
		}
	}
	return p.rejected, p.put(ctx)
}

func (p *pass) resource(ctx context.Context, b []byte) error {
	var resource merged
	for rest := b; len(rest) > 0; {
		f, n := next(rest)
		if n < 0 {
			break
		}
		rest = rest[n:]
		if f.tag == resourceField {
			resource.add(f.content)
		}
	}
	for len(b) > 0 {
		f, n := next(b)
		if n < 0 {
			break
		}
		b = b[n:]
		if f.tag != scopeLogs {
			continue
		}
		if err := p.scope(ctx, resource.content, f.content); err != nil {
			return err
		}
	}
	return nil
}

func (p *pass) scope(ctx context.Context, resource, b []byte) error {
	var scope merged
	records := false
	for rest := b; len(rest) > 0; {
		f, n := next(rest)
		if n < 0 {
			break
		}
		rest = rest[n:]
		switch f.tag {
		case scopeField:
			scope.add(f.content)
		case logRecord:
			records = true
		}
	}
	if !records {
		return nil
	}
	p.flattener.enter(resource, scope.content)
	for len(b) > 0 {
		f, n := next(b)
		if n < 0 {
			break
		}
		b = b[n:]
		if f.tag != logRecord {
			continue
		}
		if err := p.record(ctx, f.content); err != nil {
			return err
		}
	}
	return nil
}

// record makes the event of a record. Those before it are handed over when there are
// enough.
func (p *pass) record(ctx context.Context, b []byte) error {
	before := len(p.texts)
	texts, ok := p.flattener.event(p.texts, b)
	if !ok {
		excerpt := bytes.Clone(texts[before : before+sources.ExcerptSize])
		p.texts = texts[:before]
		if err := p.put(ctx); err != nil {
			return err
		}
		if err := p.intake.in.Oversize(ctx, excerpt, graph.Token{}); err != nil {
			return err
		}
		p.rejected++
		return nil
	}
	p.texts = texts
	if len(texts) > runBytes && before > 0 {
		p.texts = texts[:before]
		if err := p.put(ctx); err != nil {
			return err
		}
		p.texts = append(p.texts, texts[before:]...) // moves down
	}
	p.ends = append(p.ends, len(p.texts))
	if len(p.texts) >= runBytes {
		return p.put(ctx)
	}
	return nil
}

// put hands over what there is.
func (p *pass) put(ctx context.Context) error {
	if len(p.ends) == 0 {
		return nil
	}
	p.run = p.intake.buffers.Lend(p.run[:0], p.texts, p.ends)
	p.texts, p.ends = p.texts[:0], p.ends[:0]
	for i := range p.run {
		p.run[i].Structured = true
	}
	n, err := p.intake.in.Put(ctx, p.run)
	graph.ReleaseLines(p.run[n:])
	if err == nil && n < len(p.run) {
		err = ErrDraining
	}
	return err
}
