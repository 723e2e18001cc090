package command

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/config"
)

// manTail are the sections of the manual page that no command makes.
//
//go:embed scripts/tail.man
var manTail string

func (e *env) manCommand() *cli.Command {
	return command("man", "print the manual page", "", nil, func(*cli.Context) error {
		_, err := e.Out.Write([]byte(manPage(e.app())))
		return err
	})
}

// manPage is the manual page in the man(7) language. It has no date, so that one
// source makes one page.
func manPage(app *cli.App) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH SLUICE 1 \"\" \"sluice %s\" \"User Commands\"\n", roff(version()))
	fmt.Fprintf(&b, ".SH NAME\nsluice \\- %s\n", roff(app.Usage))
	b.WriteString(".SH SYNOPSIS\n.B sluice\n.I COMMAND\n[\\fIflags\\fR] [\\fIarguments\\fR]\n")
	b.WriteString(".SH COMMANDS\n")
	all := leaves(app.Commands, "")
	for _, c := range all {
		manCommandPart(&b, c)
	}
	b.WriteString(".SH FLAGS OF EVERY COMMAND\n")
	_, groups := grouped(all[0].Flags)
	for _, s := range groups[everyCommand] {
		manFlag(&b, s)
	}
	b.WriteString(manTail)
	return b.String()
}

func manCommandPart(b *strings.Builder, c leaf) {
	fmt.Fprintf(b, ".SS sluice %s\n", roff(c.full))
	fmt.Fprintf(b, ".B sluice %s\n[\\fIflags\\fR]", roff(c.full))
	if c.ArgsUsage != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(c.ArgsUsage))
	}
	fmt.Fprintf(b, "\n.PP\n%s.\n", roff(strings.ToUpper(c.Usage[:1])+c.Usage[1:]))
	if c.Description != "" {
		b.WriteString(".PP\n.nf\n")
		for line := range strings.Lines(c.Description) {
			b.WriteString(roff(strings.TrimSuffix(line, "\n")) + "\n")
		}
		b.WriteString(".fi\n")
	}
	headings, groups := grouped(c.Flags)
	for _, h := range headings {
		if h == everyCommand || h == notInThisBuild {
			continue
		}
		if h != "flags" {
			fmt.Fprintf(b, ".PP\n%s:\n", roff(headingText(h)))
		}
		for _, s := range groups[h] {
			manFlag(b, s)
		}
	}
}

func manFlag(b *strings.Builder, s config.Setting) {
	b.WriteString(".TP\n")
	if s.Short != "" {
		fmt.Fprintf(b, "\\fB\\-%s\\fR, ", roff(s.Short))
	}
	fmt.Fprintf(b, "\\fB\\-\\-%s\\fR", roff(s.Flag))
	if s.Word != "" {
		fmt.Fprintf(b, " \\fI%s\\fR", roff(s.Word))
	}
	text := s.Help + "."
	if s.Default != "" && s.Word != "" {
		text += " The default is " + s.Default + "."
	}
	if s.Env != "" {
		text += " It may be set by the variable " + s.Env + "."
	}
	fmt.Fprintf(b, "\n%s\n", roff(text))
}

// roff escapes what the language gives a meaning.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, `-`, `\-`, `'`, `\(aq`, "\n", " ").Replace(text)
	if strings.HasPrefix(text, ".") {
		text = `\&` + text
	}
	return text
}
