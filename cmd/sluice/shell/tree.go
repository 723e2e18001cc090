package shell

import (
	"cmp"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/internal/unavailable"
)

// Groups gives the flags of a leaf command as help groups them.
func Groups(flags []cli.Flag) (headings []string, groups map[string][]config.Setting) {
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

// Available describes the flags of a command that do something in this build.
func Available(flags []cli.Flag) (all []config.Setting) {
	headings, groups := Groups(flags)
	for _, h := range headings {
		if h != NotInThisBuild {
			all = append(all, groups[h]...)
		}
	}
	return all
}

// Leaf is a command that does something.
type Leaf struct {
	*cli.Command
	Full string // its name, that of its groups in front
}

// Leaves lists the commands that do something, without second names.
func Leaves(commands []*cli.Command, prefix string) (all []Leaf) {
	for _, c := range commands {
		switch {
		case c.Hidden || prefix == "" && strings.HasPrefix(c.Usage, SameAs):
		case len(c.Subcommands) > 0:
			all = append(all, Leaves(c.Subcommands, prefix+c.Name+" ")...)
		default:
			all = append(all, Leaf{c, prefix + c.Name})
		}
	}
	return all
}

// SameAs begins the usage of a second name of a command.
const SameAs = "the same as "

// flagGroups puts the flags of a leaf command under headings, in the order of help:
// its own, those of its section of the configuration, the global ones, and last those
// of features that this build does not have.
func flagGroups(section string, own []cli.Flag) (headings []string, groups map[string][]config.Setting) {
	groups = make(map[string][]config.Setting)
	group := func(heading string, i config.Setting) {
		if groups[heading] == nil {
			headings = append(headings, heading)
		}
		groups[heading] = append(groups[heading], i)
	}
	for _, f := range own {
		if d, ok := f.(cli.DocGenerationFlag); ok {
			group("flags", infoOf(f.Names(), d))
		}
	}
	var missing []config.Setting
	if section != "" {
		for _, i := range config.FlagsOf(section) {
			if _, _, found := unavailable.Setting(i.Key, i.Flag); found {
				missing = append(missing, i)
				continue
			}
			if i.Flag == "output" || i.Flag == "dlq" {
				i.Help += SinksLeftOut()
			}
			_, heading, _ := strings.Cut(i.Section, ".")
			heading, _, _ = strings.Cut(heading, ".") // of the part right below the section
			group(cmp.Or(heading, "flags"), i)
		}
	}
	for _, i := range append(config.FlagsOf("global"), config.Setting{Flag: "help", Short: "h", Help: "This text"}) {
		group(EveryCommand, i)
	}
	for _, i := range missing {
		group(NotInThisBuild, i)
	}
	return headings, groups
}

// SinksLeftOut tells what a sink may not be in this build; empty when nothing is left out.
func SinksLeftOut() (text string) {
	for i, k := range sink.LeftOut() {
		if text += ", "; i == 0 {
			text = " (left out of this build: "
		}
		text += string(k)
	}
	if text != "" {
		text += ")"
	}
	return text
}

// Headings of flags that are not of the command itself.
const (
	EveryCommand   = "every command"
	NotInThisBuild = "not in this build"
)

// Heading is a heading as help and the manual page show it.
func Heading(section string) string {
	if section == "api" || section == "nats" {
		return strings.ToUpper(section)
	}
	return strings.ToUpper(section[:1]) + strings.ReplaceAll(section[1:], "_", " ")
}

// infoOf describes a flag that is no setting in the same terms.
func infoOf(names []string, d cli.DocGenerationFlag) config.Setting {
	i := config.Setting{Flag: names[0], Help: d.GetUsage()}
	if len(names) > 1 {
		i.Short = names[1]
	}
	if d.TakesValue() {
		i.Word, i.Default = "VALUE", d.GetValue()
	}
	if o, ok := d.(Optional); ok {
		i.Flag += "[=" + o.OptionalWord() + "]"
	}
	switch c := d.(type) {
	case choice:
		i.Words = c.words
	case choices:
		i.Words = c.words
	}
	return i
}

// Optional is a flag whose value may be left out. OptionalWord stands for it in help.
type Optional interface{ OptionalWord() string }

// choice is a flag whose value is one of a few words.
type choice struct {
	*cli.StringFlag
	words []string
}

// Choice makes a flag whose value is one of a few words, which its help names.
func Choice(name, usage string, words ...string) cli.Flag {
	return choice{&cli.StringFlag{Name: name, Usage: usage + " (" + strings.Join(words, ", ") + ")"}, words}
}

// choices is a flag with several values, each of them one of a few words.
type choices struct {
	*cli.GenericFlag
	words []string
}

// Choices gives a flag with several values its words, which its help names.
func Choices(f *cli.GenericFlag, words ...string) cli.Flag {
	f.Usage += " (" + strings.Join(words, ", ") + ")"
	return choices{f, words}
}
