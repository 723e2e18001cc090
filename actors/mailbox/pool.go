package mailbox

import "context"

// Job is work that an actor gives to a worker. slot is the worker's number, from
// 0, so that each can have scratch memory of its own. ctx ends when the actor is
// abandoned. The returned value comes back to the actor as a message; nil does not.
//
// A job that panics restarts its actor and is run again from the beginning, so a
// job that must not repeat itself keeps its progress in what it captured.
type Job func(ctx context.Context, slot int) any

// Pool is an actor's workers: goroutines that exist while they work. The actor
// gets no data while all of them are busy.
type Pool struct {
	cell     *Cell
	size     int
	free     []int
	isolates []*Isolate
	ctx      context.Context
	cancel   context.CancelFunc
	queued   queue[*assignment] // jobs without a worker yet
	broken   []*assignment      // jobs that panicked, until the restart
	again    queue[*assignment] // the same, after it
	full     bool
	ready    queue[any] // outcomes the actor has not received yet

	started, received uint64 // jobs given to workers, outcomes in order
	window            uint64 // jobs that may be between the two, 0 for any number
	order             *resequencer[any]
}

type assignment struct {
	seq   uint64
	units int
	job   Job
	done  completion // of the last run
}

// completion is the outcome of a job on its way from the worker.
type completion struct {
	slot     int
	work     *assignment
	value    any
	panicked *relayed
}

// NewPool gives the cell n workers.
func NewPool(c *Cell, n int) *Pool {
	p := &Pool{cell: c, size: max(1, n)}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	for slot := range p.size {
		p.free = append(p.free, p.size-1-slot)
		p.isolates = append(p.isolates, &Isolate{cell: c})
	}
	c.pool = p
	c.busy.workers = p.size
	return p
}

// NewOrderedPool gives the cell n workers whose outcomes come back in the order
// in which the jobs were started. A slow job holds the others' outcomes back, and
// further jobs once 2n are between start and return.
func NewOrderedPool(c *Cell, n int) *Pool {
	p := NewPool(c, n)
	p.window = uint64(2 * p.size)
	p.order = newResequencer[any](int(p.window))
	return p
}

// Isolate protects the steps of the worker with the given slot.
func (p *Pool) Isolate(slot int) *Isolate { return p.isolates[slot] }

// Busy is the number of jobs started and not finished.
func (p *Pool) Busy() int {
	return p.size - len(p.free) + p.queued.len() + p.again.len() + len(p.broken)
}

// Start gives a job to a worker, or queues it when requests or completions start
// more than there are. units is what the record counts when the job is done. It
// is called from Receive; elements taken from the run in hand go with the job.
func (p *Pool) Start(units int, job Job) {
	if p.cell.lane != nil {
		p.cell.lane.commitTaken()
	}
	p.cell.box.commit()
	p.queued.push(&assignment{units: units, job: job})
	p.dispatch()
}

// dispatch starts what is queued while workers are free, and holds data when
// no further job could start.
func (p *Pool) dispatch() {
	for p.again.len() > 0 && len(p.free) > 0 {
		p.begin(p.again.pop())
	}
	for p.queued.len() > 0 && p.hasCapacity() {
		p.started++
		work := p.queued.pop()
		work.seq = p.started
		p.begin(work)
	}
	switch full := !p.hasCapacity(); {
	case full && !p.full:
		p.cell.box.hold()
		p.full = true
	case !full && p.full:
		p.full = false
		p.cell.box.release()
	}
}

func (p *Pool) begin(work *assignment) {
	slot := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	go p.run(slot, work)
}

func (p *Pool) hasCapacity() bool {
	return len(p.free) > 0 && (p.window == 0 || p.started-p.received < p.window)
}

func (p *Pool) run(slot int, work *assignment) {
	done := &work.done
	*done = completion{slot: slot, work: work}
	begin, _ := p.cell.busy.begin()
	defer func() {
		if v := recover(); v != nil {
			r := relay(v)
			done.panicked = &r
			p.isolates[slot].applying = false
		}
		p.cell.busy.end(begin)
		p.cell.box.complete(done)
	}()
	done.value = work.job(p.ctx, slot)
}

// finish takes the worker back and puts the outcome, in its order, where the
// actor gets it from. The panic of a broken job is raised again, in the actor's
// goroutine.
func (p *Pool) finish(c *completion) {
	p.free = append(p.free, c.slot)
	if c.panicked != nil {
		p.broken = append(p.broken, c.work)
		panic(*c.panicked)
	}
	p.cell.counters.batches.Add(1)
	p.cell.counters.events.Add(int64(c.work.units))
	if p.order == nil {
		p.deliver(c.value)
	} else if p.order.add(c.work.seq-1, c.value) { // always: room keeps the window
		for v, ok := p.order.pop(); ok; v, ok = p.order.pop() {
			p.deliver(v)
		}
	}
	p.dispatch()
}

func (p *Pool) deliver(value any) {
	p.received++
	if value != nil {
		p.ready.push(value)
	}
}

// resume runs broken jobs again, after the restart.
func (p *Pool) resume() {
	for _, work := range p.broken {
		p.again.push(work)
	}
	p.broken = nil
	p.dispatch()
}

// idle reports whether no job is under way and no outcome waits.
func (p *Pool) idle() bool { return p.Busy() == 0 && p.ready.len() == 0 }
