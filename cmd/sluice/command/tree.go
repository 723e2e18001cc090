package command

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/config"
)

// grouped gives the flags of a leaf command as help groups them.
func grouped(flags []cli.Flag) (headings []string, groups map[string][]config.Setting) {
	section := ""
	var own []cli.Flag
	for _, f := range flags {
		if f.Names()[0] == "help" { // help itself adds it, and so does the library
			continue
		}
		category := ""
		if c, ok := f.(cli.CategorizableFlag); ok {
			category = c.GetCategory()
		}
		switch top, _, _ := strings.Cut(category, "."); top {
		case "":
			own = append(own, f)
		case "global":
		default:
			section = top
		}
	}
	return flagGroups(section, own)
}

// available describes the flags of a command that do something in this build.
func available(flags []cli.Flag) (all []config.Setting) {
	headings, groups := grouped(flags)
	for _, h := range headings {
		if h != notInThisBuild {
			all = append(all, groups[h]...)
		}
	}
	return all
}

// leaf is a command that does something.
type leaf struct {
	*cli.Command
	full string // its name, that of its groups in front
}

// leaves lists the commands that do something, without second names.
func leaves(commands []*cli.Command, prefix string) (all []leaf) {
	for _, c := range commands {
		switch {
		case c.Hidden || prefix == "" && strings.HasPrefix(c.Usage, sameAs):
		case len(c.Subcommands) > 0:
			all = append(all, leaves(c.Subcommands, prefix+c.Name+" ")...)
		default:
			all = append(all, leaf{c, prefix + c.Name})
		}
	}
	return all
}

// sameAs begins the usage of a second name of a command.
const sameAs = "the same as "
