package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"syscall"
	"time"

	"github.com/sluicehq/sluice/actors/reload"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
)

// echo is how long signals count as one: wrappers such as timeout(1) signal a
// process and then the group it is in.
const echo = 10 * time.Millisecond

// Run runs a daemon until its input ends, a signal asks for its end or an actor
// fails for good, and returns the exit code. SIGHUP reloads. A second SIGINT or
// SIGTERM, later than an echo of the first, ends it at once.
func Run(signals <-chan os.Signal, o Options) int {
	log := logging.Target(o.Log, "sluice.server")
	stop, hup := make(chan struct{}), make(chan struct{}, 1)
	code := make(chan int, 1)
	go func() { code <- serve(o, stop, hup) }()
	stopping := false
	for {
		select {
		case c := <-code:
			return c
		case s := <-signals:
			n, ok := s.(syscall.Signal)
			switch {
			case !ok:
			case n == syscall.SIGHUP && !stopping:
				select {
				case hup <- struct{}{}:
				default: // one is waiting already
				}
			case n == syscall.SIGHUP:
			case stopping:
				log.Warn("second signal, leaving at once", "signal", n.String())
				return exitSignal + int(n)
			default:
				stopping = true
				echoes(signals)
				log.Info("shutting down", "signal", n.String()) // waits for nobody
				close(stop)
			}
		}
	}
}

// echoes swallows the signals that come together with one before.
func echoes(signals <-chan os.Signal) {
	time.Sleep(echo)
	for {
		select {
		case <-signals:
		default:
			return
		}
	}
}

// serve is one life of a daemon.
func serve(o Options, stop, hup <-chan struct{}) int {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() {
		select {
		case <-stop:
			cancel()
		case <-ctx.Done():
		}
	}()
	log := logging.Target(o.Log, "sluice.server")
	d, err := New(ctx, o)
	switch {
	case errors.Is(err, context.Canceled):
		log.Info("stopped before anything was served")
		return exitOK
	case err != nil:
		fmt.Fprintf(o.Err, "sluice: %v\n", err)
		return codeOf(err)
	}
	code := exitOK
	if err := d.Start(); err != nil {
		fmt.Fprintf(o.Err, "sluice: %v\n", err)
		code = codeOf(err)
	} else {
		code = d.await(stop, hup)
	}
	if err := d.Stop(); err != nil {
		log.Error("shutdown", "err", err)
	}
	d.sumUp(log)
	return code
}

// sumUp tells what became of the lines, as the last that is logged. Of those that
// are not undelivered, results are delivered, dead letters, or dropped. The latter two
// count records and results, of which a line may have many. It is an error when results
// were given up and nothing has kept them.
func (d *Daemon) sumUp(log *slog.Logger) {
	accepted, undelivered := d.dataflow.Open.Lines()
	deadLettered, dropped, lost := d.outputs.Totals()
	level := slog.LevelInfo
	switch {
	case lost > 0:
		level = slog.LevelError
	case undelivered > 0:
		level = slog.LevelWarn
	}
	log.Log(context.Background(), level, "stopped", "accepted", accepted, "parse_errors", d.dataflow.Parse.ParseErrors(),
		"undelivered", undelivered, "dead_lettered", deadLettered, "dropped", dropped)
}

// await returns when the daemon is to end, with its exit code.
func (d *Daemon) await(stop, hup <-chan struct{}) int {
	for {
		select {
		case <-stop:
			return exitOK
		case <-d.Ended():
			return exitOK
		case <-hup:
			d.Reload(reload.Signal, "SIGHUP")
		case name := <-d.Suspended():
			d.log.Error("an actor used up its restart budget, leaving", "actor", name)
			return exitRuntime
		}
	}
}
