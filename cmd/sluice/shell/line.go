package shell

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// Arrange moves the command's name to the front, its flags behind it and the
// positional arguments last, because the flag parser stops at the first
// positional argument and knows a flag only behind the command it belongs to.
// What it cannot place stays where the parser will complain about it.
func Arrange(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return []string{app.Name}
	}
	path, leaf, below, rest := Find(app, args[1:])
	var flags, positionals []string
	for i := 0; i < len(rest); i++ {
		arg := rest[i]
		switch {
		case arg == "--":
			positionals = append(positionals, rest[i+1:]...)
			i = len(rest)
		case !isFlag(arg):
			positionals = append(positionals, arg)
		case takesValue(leaf, arg) && i+1 < len(rest):
			flags = append(flags, canonical(leaf, arg), rest[i+1])
			i++
		default:
			flags = append(flags, canonical(leaf, arg))
		}
	}
	out := append([]string{args[0]}, path...)
	if below != nil && len(positionals) > 0 { // a command that does not exist: its flags mean nothing
		return append(out, positionals...)
	}
	out = append(out, flags...)
	if len(positionals) > 0 {
		out = append(out, "--")
	}
	return append(out, positionals...)
}

// Find follows the names of commands through args, past flags, and
// returns them, the flags and the commands of the last one, and the other
// arguments.
func Find(app *cli.App, args []string) (path []string, flags []cli.Flag, below []*cli.Command, rest []string) {
	flags, below = app.Flags, app.Commands
	all := everyFlag(app.Commands)
	i := 0
	for ; i < len(args) && args[i] != "--"; i++ {
		if isFlag(args[i]) {
			rest = append(rest, args[i])
			if takesValue(all, args[i]) && i+1 < len(args) {
				i++
				rest = append(rest, args[i])
			}
			continue
		}
		n := slices.IndexFunc(below, func(c *cli.Command) bool { return c.HasName(args[i]) })
		if n < 0 {
			break
		}
		path, flags, below = append(path, args[i]), below[n].Flags, below[n].Subcommands
	}
	return path, flags, below, append(rest, args[i:]...)
}

func everyFlag(commands []*cli.Command) []cli.Flag {
	var flags []cli.Flag
	for _, c := range commands {
		flags = append(append(flags, c.Flags...), everyFlag(c.Subcommands)...)
	}
	return flags
}

func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// canonical writes a flag by its first name, because the library refuses two
// names of one flag on a command line.
func canonical(flags []cli.Flag, arg string) string {
	name, value, valued := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	for _, f := range flags {
		if names := f.Names(); slices.Contains(names, name) {
			if valued {
				return "--" + names[0] + "=" + value
			}
			return "--" + names[0]
		}
	}
	return arg
}

// takesValue reports whether the value of the flag is the next argument.
func takesValue(flags []cli.Flag, arg string) bool {
	name := strings.TrimLeft(arg, "-")
	if strings.Contains(name, "=") {
		return false
	}
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			d, ok := f.(cli.DocGenerationFlag)
			return ok && d.TakesValue()
		}
	}
	return false
}
