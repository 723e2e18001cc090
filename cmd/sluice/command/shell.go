package command

import (
	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/shell"
)

func (e *env) completionCommands() []*cli.Command {
	script := func(name, text string) *cli.Command {
		return command(name, "print the script for "+name, "", nil, func(*cli.Context) error {
			_, err := e.Out.Write([]byte(text))
			return err
		})
	}
	words := command("words", "print what may follow the words of a command line", "-- WORD...", nil, func(c *cli.Context) error {
		return shell.Complete(e.app(), c.Args().Slice(), e.ids).Write(e.Out)
	})
	words.Hidden = true
	return []*cli.Command{script("bash", shell.Bash), script("zsh", shell.Zsh), script("fish", shell.Fish), words}
}

func (e *env) manCommand() *cli.Command {
	return command("man", "print the manual page", "", nil, func(*cli.Context) error {
		_, err := e.Out.Write([]byte(shell.ManPage(e.app(), version())))
		return err
	})
}
