//go:build no_daemon

package command

import (
	"log/slog"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/config"
)

// daemonCommand says that there is none. Commands that ask a daemon elsewhere remain.
func (e *env) daemonCommand() *cli.Command {
	return &cli.Command{
		Name: "daemon", Usage: "run the service", Hidden: true, HideHelp: true, SkipFlagParsing: true,
		Action: func(*cli.Context) error {
			return configFaultf("engine daemon is left out of this build, which was made with the tag no_daemon")
		},
	}
}

// serve is never called.
func serve(<-chan os.Signal, *config.Loaded, *slog.Logger, Streams) int { return exitConfig }
