package command

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/internal/unavailable"
)

// Columns of help.
const (
	helpIndent = 34
	helpWidth  = 110
)

// groupHelp is the help template of a command that only holds others.
func groupHelp(usage string, commands []*cli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{{.HelpName}}: %s\n\nUsage: {{.HelpName}} COMMAND [flags] [arguments]\n\nCommands:\n", usage)
	for _, c := range commands {
		if !c.Hidden {
			fmt.Fprintf(&b, "  %-10s %s\n", c.Name, c.Usage)
		}
	}
	b.WriteString(exampleText + "\nEvery command explains itself with --help.\n")
	return b.String()
}

// helpText is the help template of a leaf command: its own flags, those of its
// section of the configuration under the section's headings, the global ones, and
// last those of features that this build does not have.
func helpText(usage, arguments, section string, own []cli.Flag) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{{.HelpName}}: %s\n\nUsage: {{.HelpName}} [flags]", usage)
	if arguments != "" {
		fmt.Fprintf(&b, " %s", arguments)
	}
	b.WriteString("\n" + exampleText)
	headings, groups := flagGroups(section, own)
	for _, heading := range headings {
		fmt.Fprintf(&b, "\n%s:\n", headingText(heading))
		for _, i := range groups[heading] {
			helpLine(&b, i)
		}
	}
	return b.String()
}

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
				i.Help += sinksLeftOut()
			}
			_, heading, _ := strings.Cut(i.Section, ".")
			heading, _, _ = strings.Cut(heading, ".") // of the part right below the section
			group(cmp.Or(heading, "flags"), i)
		}
	}
	for _, i := range append(config.FlagsOf("global"), config.Setting{Flag: "help", Short: "h", Help: "This text"}) {
		group(everyCommand, i)
	}
	for _, i := range missing {
		group(notInThisBuild, i)
	}
	return headings, groups
}

// sinksLeftOut tells what a sink may not be in this build; empty when nothing is left out.
func sinksLeftOut() (text string) {
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
	everyCommand   = "every command"
	notInThisBuild = "not in this build"
)

func headingText(section string) string {
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
	if o, ok := d.(optionalFlagOf); ok {
		i.Flag += "[=" + o.word + "]"
	}
	return i
}

func helpLine(b *strings.Builder, i config.Setting) {
	flag := "      --" + i.Flag
	if i.Short != "" {
		flag = "  -" + i.Short + ", --" + i.Flag
	}
	if i.Word != "" {
		flag += " " + i.Word
	}
	text := i.Help
	if i.Default != "" && i.Word != "" {
		text += " [" + i.Default + "]"
	}
	if i.Env != "" {
		text += " [$" + i.Env + "]"
	}
	b.WriteString(flag)
	column := len(flag)
	if column >= helpIndent-1 {
		b.WriteByte('\n')
		column = 0
	}
	for word := range strings.FieldsSeq(text) {
		if column+1+len(word) > helpWidth {
			b.WriteByte('\n')
			column = 0
		}
		pad := 1
		if column < helpIndent {
			pad = helpIndent - column
		}
		b.WriteString(strings.Repeat(" ", pad) + word)
		column += pad + len(word)
	}
	b.WriteByte('\n')
}
