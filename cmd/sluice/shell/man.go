package shell

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

// ManPage is the manual page in the man(7) language. It has no date, so that one
// source makes one page.
func ManPage(app *cli.App, version string) string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH SLUICE 1 \"\" \"sluice %s\" \"User Commands\"\n", roff(version))
	fmt.Fprintf(&b, ".SH NAME\nsluice \\- %s\n", roff(app.Usage))
	b.WriteString(".SH SYNOPSIS\n.B sluice\n.I COMMAND\n[\\fIflags\\fR] [\\fIarguments\\fR]\n")
	b.WriteString(".SH COMMANDS\n")
	all := Leaves(app.Commands, "")
	for _, c := range all {
		manCommandPart(&b, c)
	}
	b.WriteString(".SH FLAGS OF EVERY COMMAND\n")
	_, groups := Groups(all[0].Flags)
	for _, s := range groups[EveryCommand] {
		manFlag(&b, s)
	}
	b.WriteString(manTail)
	return b.String()
}

func manCommandPart(b *strings.Builder, c Leaf) {
	fmt.Fprintf(b, ".SS sluice %s\n", roff(c.Full))
	fmt.Fprintf(b, ".B sluice %s\n[\\fIflags\\fR]", roff(c.Full))
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
	headings, groups := Groups(c.Flags)
	for _, h := range headings {
		if h == EveryCommand || h == NotInThisBuild {
			continue
		}
		if h != "flags" {
			fmt.Fprintf(b, ".PP\n%s:\n", roff(Heading(h)))
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
