//go:build !no_daemon

package command

import (
	"log/slog"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/checks"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/daemon"
	"github.com/sluicehq/sluice/cmd/sluice/logging"
)

func (e *env) daemonCommand() *cli.Command {
	return sectionCommand("daemon", "run the service", "", "daemon", []cli.Flag{
		configFlag(false),
		&cli.BoolFlag{Name: "dry-run", Usage: "Print the effective configuration and start nothing"},
	}, e.runDaemon)
}

// lastWords is how long a daemon that has ended waits for whoever reads its log.
const lastWords = 500 * time.Millisecond

func (e *env) runDaemon(c *cli.Context) error {
	if c.Args().Present() {
		return configFaultf("engine daemon takes no argument, got %q (rules are named by --rules)", c.Args().First())
	}
	l, err := e.load(c, "daemon")
	if err != nil {
		return err
	}
	if c.Bool("dry-run") {
		e.notice(l)
		return e.dryRun(l, "daemon")
	}
	warnings, err := checks.Daemon(l, os.Getenv)
	if err != nil { // there is no log yet
		e.notice(l)
		return e.checked(warnings, err)
	}
	close(e.handedOver)
	filter, origin, err := logFilter(l)
	log, queue := logging.NewQueued(e.Err, e.daemonLogFormat(l), logging.NewLevel(filter, origin))
	announce(log, l, daemon.Protection(l.Config.Daemon.API))
	tellWarnings(log, l, warnings)
	tellFilter(log, err)
	code := e.daemon(e.signals, l, log, Streams{In: e.In, Out: e.Out, Err: queue.Patient()})
	queue.Close(lastWords)
	if code != exitOK {
		return silent(code)
	}
	return nil
}

// serve runs the real daemon.
func serve(signals <-chan os.Signal, cfg *config.Loaded, log *slog.Logger, s Streams) int {
	return daemon.Run(signals, daemon.Options{
		Config: cfg, Log: log, In: s.In, Out: s.Out, Err: s.Err, Version: version(), Revision: revision(),
	})
}
