package command

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/shell"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
)

// Columns of help. On a terminal too narrow for two of them, the text of a flag stands
// below it.
const (
	helpIndent = 34
	helpWidth  = 110 // at most, and where nobody tells
	helpLeast  = 40
	helpText   = 36 // least width of a column of text beside the flags
	helpBelow  = 10 // where a text below its flag begins
)

// helpColumns is how wide help may be on what it is written to.
func helpColumns(out io.Writer) int {
	if f, ok := out.(*os.File); ok && terminal.Is(out) {
		return max(helpLeast, min(helpWidth, terminal.Width(f)()))
	}
	return helpWidth
}

// setHelp gives the help of so many columns to the commands that do something, once
// each: the second name of a command has its help.
func setHelp(c *cli.Command, columns int) {
	if c.CustomHelpTemplate == "" {
		c.CustomHelpTemplate = leafHelp(c, columns)
	}
	for _, sub := range c.Subcommands {
		setHelp(sub, columns)
	}
}

// groupHelp is the help template of a command that only holds others.
func groupHelp(usage string, commands []*cli.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{{.HelpName}}: %s\n\nUsage: {{.HelpName}} COMMAND [flags] [arguments]\n\nCommands:\n", usage)
	width := 10
	for _, c := range commands {
		if !c.Hidden {
			width = max(width, len(c.Name))
		}
	}
	for _, c := range commands {
		if !c.Hidden {
			fmt.Fprintf(&b, "  %-*s %s\n", width, c.Name, c.Usage)
		}
	}
	b.WriteString(exampleText + "\nEvery command explains itself with --help.\n")
	return b.String()
}

// leafHelp is the help template of a leaf command: its own flags, those of its
// section of the configuration under the section's headings, the global ones, and
// last those of features that this build does not have.
func leafHelp(c *cli.Command, columns int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "{{.HelpName}}: %s\n\nUsage: {{.HelpName}} [flags]", c.Usage)
	if c.ArgsUsage != "" {
		fmt.Fprintf(&b, " %s", c.ArgsUsage)
	}
	b.WriteString("\n" + exampleText)
	headings, groups := shell.Groups(c.Flags)
	for _, heading := range headings {
		fmt.Fprintf(&b, "\n%s:\n", shell.Heading(heading))
		for _, i := range groups[heading] {
			helpLine(&b, i, columns)
		}
	}
	return b.String()
}

// helpLine is a flag and its text, of which no line is longer than so many columns,
// unless one word is.
func helpLine(b *strings.Builder, i config.Setting, columns int) {
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
	indent, below := helpIndent, len(flag) >= helpIndent-1
	if columns < helpIndent+helpText {
		indent, below = helpBelow, true
	}
	for n, line := range terminal.Wrap(text, columns-indent) {
		if n == 0 && !below {
			line = flag + strings.Repeat(" ", indent-len(flag)) + line
		} else {
			line = strings.Repeat(" ", indent) + line
		}
		if n == 0 && below {
			line = flag + "\n" + line
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}
