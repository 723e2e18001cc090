package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
	"github.com/sluicehq/sluice/internal/await"
)

// stopGrace bounds what follows the drain: actors that are inside a step,
// destinations that are closed, and goroutines on their way out.
const stopGrace = time.Second

// answerGrace is what requests get after the end of the drain to tell their
// clients how it ended.
const answerGrace = time.Second

// Stop drains and ends everything: readiness off, no new requests, inputs, then
// the stages in graph order and the sinks, all within the drain timeout, and the
// last save, within ten seconds more. It may be called once, also after a failed
// Start.
func (d *Daemon) Stop() error {
	d.health.serving.Store(false)
	d.serving.Load().set.Engine.Retire()
	timeout := time.Duration(d.cfg.Output.DrainTimeout) * time.Second
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	d.reloader.Close()
	d.api.Drain()
	requests, cut := context.WithCancel(context.Background())
	defer cut()
	served := make(chan error, 1)
	go func() { served <- d.server.Shutdown(requests) }()
	d.inputs.Stop()
	if d.checkpointer != nil {
		d.checkpointer.quit()
	}
	abandoned := d.abandonReload(ctx)
	drained := d.system.Drain(ctx)
	<-abandoned
	if stuck := late(drained); len(stuck) > 0 {
		_, open := d.dataflow.Open.Lines()
		logging.Target(d.log, "sluice.server").Warn("drain timeout exceeded", "timeout", timeout, "undelivered", open, "actors", stuck)
	}
	close(d.over)
	err := lastAnswers(ctx, served, cut)
	ended := d.drainControl(ctx)
	err = errors.Join(err, d.closeState(drained))
	<-ended
	return errors.Join(err, d.release())
}

// lastAnswers waits for the requests in flight: to the end of ctx, and a moment
// longer for those that have waited for the drain. Then their connections are cut.
func lastAnswers(ctx context.Context, served <-chan error, cut context.CancelFunc) error {
	select {
	case err := <-served:
		return err
	case <-ctx.Done():
	}
	late := time.AfterFunc(answerGrace, cut)
	defer late.Stop()
	err := <-served
	if errors.Is(err, context.Canceled) {
		return nil // whoever was cut off had the whole drain
	}
	return err
}

// closeState writes the last save and closes the database.
func (d *Daemon) closeState(drained []actors.Drained) error {
	if d.checkpointer == nil {
		return nil
	}
	return d.checkpointer.close(drained)
}

// abandonReload lets a pass that has swapped finish and ends any other, and then the
// fetching of sources. It closes what it returns, within a moment, when neither is running
// any more.
func (d *Daemon) abandonReload(ctx context.Context) <-chan struct{} {
	now, cancel := context.WithCancel(ctx)
	cancel()
	done := make(chan struct{})
	d.work.Go(func() {
		defer close(done)
		if _, err := d.system.DrainActor(now, reload.Name); err != nil {
			d.log.Debug("reload was not running", "err", err)
		}
		d.endSources(ctx)
	})
	return done
}

// drainControl ends the control actors, now that no request sends them anything. They
// have the rest of the drain, and a moment at least. It closes what it returns when they
// have ended.
func (d *Daemon) drainControl(ctx context.Context) <-chan struct{} {
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) > stopGrace {
		cancel()
		grace, cancel = context.WithDeadline(context.Background(), deadline)
	}
	done := make(chan struct{})
	d.work.Go(func() {
		defer close(done)
		defer cancel()
		d.system.DrainControl(grace)
	})
	return done
}

// release gives back what New took.
func (d *Daemon) release() error {
	grace, cancel := context.WithTimeout(context.Background(), stopGrace)
	defer cancel()
	err := errors.Join(d.closeInputs(grace), d.system.Stop(grace), d.features.close(), d.server.Close())
	done := make(chan struct{})
	go func() { d.inputs.Wait(); d.work.Wait(); close(done) }()
	if !await.Done(grace, done, stopGrace/10) {
		return errors.Join(err, errors.New("parts of the daemon did not end in time"))
	}
	return errors.Join(err, d.failure)
}

// closeInputs acknowledges what the last checkpoint covers, and lets the inputs go.
func (d *Daemon) closeInputs(ctx context.Context) error {
	if d.inputs == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, stopGrace/2)
	defer cancel()
	return d.inputs.Close(ctx)
}

// unwind gives back what a failed New has taken so far.
func (d *Daemon) unwind() {
	if d.reloader != nil {
		d.reloader.Close()
	}
	if d.server != nil {
		_ = d.server.Close()
	}
	if d.system != nil {
		d.endSources(context.Background())
		grace, cancel := context.WithTimeout(context.Background(), stopGrace)
		defer cancel()
		_ = d.system.Stop(grace)
	}
	_ = d.closeInputs(context.Background())
	_ = d.features.close()
	_ = d.closeState(nil)
	d.work.Wait()
}
