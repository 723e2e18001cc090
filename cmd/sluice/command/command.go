package command

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/shell"
	"github.com/sluicehq/sluice/internal/suggest"
)

// Streams are the process's ends.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// RunDaemon runs the service until it ends and returns the exit code. cfg has
// been merged and checked; log is the root logger.
type RunDaemon func(signals <-chan os.Signal, cfg *config.Loaded, log *slog.Logger, s Streams) int

// Program is the command line with the parts that tests replace.
type Program struct {
	Daemon RunDaemon
	// Patience is how long a completion waits for a daemon that it asks for ids. 0 is two
	// seconds: a person waits, too.
	Patience time.Duration
}

// Run interprets args, of which the first is the program's name, and returns
// the exit code.
func Run(signals <-chan os.Signal, args []string, in io.Reader, out, errs io.Writer) int {
	return Program{Daemon: serve}.Run(signals, args, in, out, errs)
}

// Run is the function Run with the program's parts.
func (p Program) Run(signals <-chan os.Signal, args []string, in io.Reader, out, errs io.Writer) int {
	e := &env{Streams: Streams{In: in, Out: out, Err: errs}, signals: signals, handedOver: make(chan struct{}), daemon: p.Daemon, patience: cmp.Or(p.Patience, 2*time.Second)}
	app := e.app()
	code, text := codeOf(e.supervise(isDaemon(app, args), func() error { return app.Run(shell.Arrange(app, args)) }))
	if text != "" {
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(errs, "sluice: %s\n", line)
		}
	}
	return code
}

// isDaemon reports whether the arguments of the program run the daemon.
func isDaemon(app *cli.App, args []string) bool {
	path, _, _, _ := shell.Find(app, args[min(1, len(args)):])
	return slices.Contains(path, "daemon")
}

// supervise runs a command and ends it at the first signal, unless the daemon
// has taken the signals over: it has more to do than to stop. A daemon reloads: asked
// to read its files again before that, it has them all to read yet.
func (e *env) supervise(reloads bool, run func() error) error {
	if e.signals == nil {
		return run()
	}
	done := make(chan error, 1)
	go func() { done <- run() }()
	for {
		select {
		case err := <-done:
			return err
		case <-e.handedOver:
			return <-done
		case s := <-e.signals:
			if n, ok := s.(syscall.Signal); ok && (n != syscall.SIGHUP || !reloads) {
				return silent(128 + int(n))
			}
		}
	}
}

// env is what every command has at hand.
type env struct {
	Streams
	signals    <-chan os.Signal
	handedOver chan struct{} // closed when the daemon receives signals
	daemon     RunDaemon
	patience   time.Duration // of completions that ask a daemon
}

// action is a command's function.
type action func(*cli.Context) error

func (e *env) app() *cli.App {
	eval, daemon := e.evalCommand(), e.daemonCommand()
	columns := helpColumns(e.Out)
	setHelp(eval, columns)
	setHelp(daemon, columns)
	app := &cli.App{
		Name:  "sluice",
		Usage: "evaluate Sigma rules on streams of events",
		Commands: []*cli.Command{
			group("engine", "run or question the detection engine", daemon, eval, e.statusCommand(), e.rulesCommand(), e.logLevelCommand(),
				group("incidents", "hand open incidents over", e.incidentExportCommand())),
			group("rule", "check and print rules", e.ruleCommands()...),
			group("pipeline", "look into processing pipelines", e.pipelineCommands()...),
			group("sources", "look into the dynamic sources of a daemon, and have them fetched", e.sourceCommands()...),
			group("silence", "keep results quiet for a while", e.silenceCommands()...),
			group("incidents", "look into open incidents, and hand them over", e.incidentCommands()...),
			group("dlq", "look into dead letters, and send them on their way again", e.dlqCommands()...),
			group("config", "make, check and show the configuration", e.configCommands()...),
			e.versionCommand(),
			group("completion", "print what makes a shell complete commands and flags", e.completionCommands()...),
			e.manCommand(),
			alias(daemon, "engine daemon"), alias(eval, "engine eval"),
		},
		Flags:                     []cli.Flag{&cli.BoolFlag{Name: "version", Usage: "print the version"}},
		HideVersion:               true,
		DisableSliceFlagSeparator: true,
		Reader:                    e.In,
		Writer:                    e.Out,
		ErrWriter:                 e.Err,
		ExitErrHandler:            func(*cli.Context, error) {}, // only main exits
		OnUsageError:              usageError,
		Action: func(c *cli.Context) error {
			if c.Bool("version") {
				return e.printVersion(c)
			}
			return unknownCommand(c)
		},
	}
	app.CustomAppHelpTemplate = groupHelp(app.Usage, app.Commands)
	for _, c := range app.Commands {
		setHelp(c, columns)
	}
	addExamples(app)
	return app
}

func group(name, usage string, commands ...*cli.Command) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, Subcommands: commands, OnUsageError: usageError, Action: unknownCommand,
		HideHelpCommand: true, CustomHelpTemplate: groupHelp(usage, commands),
	}
}

// command is a leaf: every one takes the global flags.
func command(name, usage, arguments string, flags []cli.Flag, run action) *cli.Command {
	if arguments == "" {
		run = withoutArguments(flags, run)
	}
	return sectionCommand(name, usage, arguments, "", flags, run)
}

// withoutArguments refuses arguments rather than doing something else than the
// caller had in mind.
func withoutArguments(flags []cli.Flag, run action) action {
	hint := ""
	for _, f := range flags {
		switch f.Names()[0] {
		case "rules":
			hint = " (rules are named by --rules)"
		case "addr":
			hint = " (the daemon is named by --addr)"
		case "config":
			if hint == "" {
				hint = " (a file is named by --config)"
			}
		case "wait":
			hint = " (how long to wait stands behind \"=\": --wait=" + waitDefault + ")"
		}
	}
	return func(c *cli.Context) error {
		if c.Args().Present() {
			return configFaultf("%s takes no argument, got %q%s", fullName(c), c.Args().First(), hint)
		}
		return run(c)
	}
}

// fullName is what a command is called on the command line, groups included.
func fullName(c *cli.Context) string { return strings.TrimPrefix(c.Command.HelpName, "sluice ") }

// sectionCommand is a leaf that also takes the flags of a section of the
// configuration.
func sectionCommand(name, usage, arguments, section string, own []cli.Flag, run action) *cli.Command {
	flags := own
	if section != "" {
		flags = append(slices.Clip(flags), configFlags(section)...)
	}
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: arguments, Flags: append(slices.Clip(flags), configFlags("global")...),
		OnUsageError: usageError, HideHelpCommand: true,
		Action: func(c *cli.Context) error {
			if err := config.CheckFlags("global", given(c, "global")); err != nil {
				return configFault(err)
			}
			return run(c)
		},
	}
}

func alias(c *cli.Command, full string) *cli.Command {
	short := *c
	short.Usage = shell.SameAs + full
	return &short
}

func usageError(c *cli.Context, err error, _ bool) error {
	const undefined = "flag provided but not defined: -"
	name := "sluice"
	if c.Command != nil && c.Command.HelpName != "" {
		name = c.Command.HelpName
	}
	if flag, ok := strings.CutPrefix(err.Error(), undefined); ok {
		flag = strings.TrimLeft(flag, "-")
		dashes := "--"
		if len(flag) == 1 {
			dashes = "-"
		}
		text := "unknown flag " + dashes + flag
		if level := levelMeant(c, flag); level != "" {
			return configFaultf("%s: the level is an argument, as in engine log-level %s (see %s --help)", text, level, name)
		}
		near := nearest(flag, flagNames(c))
		if flag == "c" && slices.Contains(flagNames(c), "config") { // the short form that other commands have
			near = "config"
		}
		if near != "" {
			text += fmt.Sprintf(", did you mean --%s?", near)
		}
		return configFaultf("%s (see %s --help)", text, name)
	}
	return configFaultf("%s (see %s --help)", err, name)
}

func unknownCommand(c *cli.Context) error {
	if c.Args().Len() == 0 {
		return cli.ShowSubcommandHelp(c)
	}
	var names []string
	for _, sub := range c.Command.VisibleCommands() {
		names = append(names, sub.Name)
	}
	text := fmt.Sprintf("unknown command %q", c.Args().First())
	if near := nearest(c.Args().First(), names); near != "" {
		text += fmt.Sprintf(", did you mean %q?", near)
	} else if others := inGroups(c.App, c.Args().First()); len(others) > 0 {
		text += fmt.Sprintf(", did you mean %s?", strings.Join(others, " or "))
	} else {
		text += fmt.Sprintf(" (%s)", strings.Join(names, ", "))
	}
	return configFault(errors.New(text))
}

// inGroups are the commands of all groups that have nearly this name, quoted.
func inGroups(app *cli.App, name string) (full []string) {
	for _, g := range app.Commands {
		for _, sub := range g.Subcommands {
			if sub.Name == name || suggest.Nearest(name, []string{sub.Name}) != "" {
				full = append(full, strconv.Quote(g.Name+" "+sub.Name))
			}
		}
	}
	return full
}
