package sources

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/internal/ratelog"
	"github.com/sluicehq/sluice/internal/watch"
	"github.com/sluicehq/sluice/sources/fetch"
)

// Name is the actor's name.
const Name = "sources"

// capacity is that of the lane, in messages.
const capacity = 256

// joined is how many messages a run has at most.
const joined = 64

// Fetcher gets values. *fetch.Client is one.
type Fetcher interface {
	Fetch(ctx context.Context, d *fetch.Declaration, known *fetch.Validators) (fetch.Value, error)
	Subscribe(ctx context.Context, d *fetch.Declaration, take func(fetch.Pushed)) error
	Control(ctx context.Context, server, subject string, take func(payload []byte)) error
	Close()
}

// Options describe the actor. All but Rows, ControlServer and Capacity are required.
type Options struct {
	Declarations []*fetch.Declaration
	Fetcher      Fetcher
	Rows         Table // nil: values are kept in memory alone
	// ControlServer has the subject by which fetches are asked for; empty for none.
	ControlServer string
	// Changed is told of sources whose current values have changed, but for those of a round.
	// It must not wait.
	Changed  func(ids []string)
	Metrics  *Metrics
	Log      *slog.Logger
	Capacity int // of the lane; 0 for the default
}

// Stage is the actor, and what of it outlives a restart.
type Stage struct {
	actors.Stage[any]
	o      Options
	log    *slog.Logger
	pool   *mailbox.Pool
	rows   *rows
	totals totals
	faulty ratelog.Limit // of messages that are no values, by source

	book     *book       // of the actor
	alarm    *time.Timer // likewise; nil without
	alarmAt  time.Time
	snapshot atomic.Pointer[Snapshot]

	ctx     context.Context // of subscriptions, watching and alarms
	cancel  context.CancelFunc
	work    sync.WaitGroup
	watcher *watch.Watcher // nil without; of Begin and Close
	stamps  stamps         // of before the first fetch
}

// New builds the actor and reads the values that are stored.
func New(o Options) *Stage {
	if o.Capacity == 0 {
		o.Capacity = capacity
	}
	s := &Stage{o: o, log: o.Log, rows: newRows(o.Rows, o.Log), book: newBook(o.Declarations)}
	s.Stage = actors.NewStage(actors.StageOptions{Capacity: o.Capacity}, actors.Shape[any]{Name: Name, Kind: actors.KindControl, Join: joined})
	// One worker is always free, so that messages are taken whatever the fetches do.
	s.pool = mailbox.NewPool(s.Cell(), maxRunning+1)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.rows.restore(s.book)
	s.stamps = stampsOf(s.book.entries)
	s.snapshot.Store(s.book.snapshot())
	return s
}

// Feature is the row of the sources. The actor is none of its actors: it is spawned before
// all others, since rules need values.
func (s *Stage) Feature() actors.Feature {
	return actors.Feature{Name: Name, Status: s.status, Close: func() error { s.end(); return nil }}
}

// Begin starts timers, watching, subscriptions and the control subject, once rules serve.
func (s *Stage) Begin() {
	s.watch()
	for _, e := range s.book.entries { // which never change
		if e.Refresh.Policy == fetch.Push {
			s.work.Go(func() { s.subscribe(e) })
		}
	}
	if s.o.ControlServer != "" {
		s.work.Go(s.control)
	}
	s.tell(begun{})
	if changed := s.stamps.changed(); len(changed) > 0 {
		s.tell(noticed{changed}) // before they were watched
	}
}

// end ends what Begin has started.
func (s *Stage) end() {
	s.cancel()
	if s.watcher != nil {
		s.watcher.Close()
	}
	s.work.Wait()
	for id, held := range s.faulty.RestAll() {
		s.log.Warn(faultyMessages, "source", id, "messages", held)
	}
	s.o.Fetcher.Close()
}

// Close ends what Begin has started, and waits until ctx ends at most for what is being
// stored. Nothing is stored after it. The actor has been drained.
func (s *Stage) Close(ctx context.Context) error {
	s.end()
	return s.rows.close(ctx)
}

// tell puts a message into the lane. It waits for room.
func (s *Stage) tell(message any) {
	_, _ = s.Lane().Put(s.ctx, []any{message}) // fails at the end alone
}
