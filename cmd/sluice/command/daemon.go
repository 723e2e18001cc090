package command

import (
	"errors"
	"log/slog"
	"os"

	"github.com/urfave/cli/v2"

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

func (e *env) runDaemon(c *cli.Context) error {
	if c.Args().Present() {
		return configFaultf("engine daemon takes no argument, got %q (rules are named by --rules)", c.Args().First())
	}
	l, err := e.load(c, "daemon")
	if err != nil {
		return err
	}
	e.warn(l.Warnings...)
	if c.Bool("dry-run") {
		return e.dryRun(l, "daemon")
	}
	if err := l.CheckDaemon(os.Getenv); err != nil {
		return configFault(err)
	}
	if err := e.refuseUnbuilt(l, "daemon"); err != nil {
		return err
	}
	format := logging.JSON
	if l.Config.Global.LogFormat == string(logging.Text) {
		format = logging.Text
	}
	close(e.handedOver)
	if code := e.daemon(e.signals, l, e.logger(l, format), e.Streams); code != exitOK {
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

// refuseUnbuilt keeps settings of features that this build lacks from being
// dropped silently: those that would change the outcome are errors.
func (e *env) refuseUnbuilt(l *config.Loaded, section string) error {
	var lacking []error
	for _, i := range l.Inert(section) {
		if i.Refuse {
			lacking = append(lacking, errors.New(i.String()))
			continue
		}
		e.warn(i.String() + "; it has no effect")
	}
	if len(lacking) > 0 {
		return configFault(errors.Join(lacking...))
	}
	return nil
}
