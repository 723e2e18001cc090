package shell

import (
	"bufio"
	_ "embed"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// The scripts ask the program itself what may follow, so that they fit every release:
// they send the words of the command line up to the cursor to `completion words`.
var (
	//go:embed scripts/completion.bash
	Bash string
	//go:embed scripts/completion.zsh
	Zsh string
	//go:embed scripts/completion.fish
	Fish string
)

// Candidates is what may stand in the place of the last word of a command line.
type Candidates struct {
	words []candidate
	files bool // names of files may stand there as well
}

type candidate struct{ word, about string }

// Word is a word that may stand somewhere, and what it is about.
type Word struct{ Text, About string }

// Ask looks for words that are not known before somebody asks: of a kind, which is what the
// usage of a command calls its argument, and that begin with a text. The words before name
// the command. It returns in time for a person who waits.
type Ask func(kind string, before []string, begin string) []Word

// IncidentID is the kind of the flag --incident.
const IncidentID = "INCIDENT-ID"

// filesToo is the line that tells scripts to complete names of files.
const filesToo = ":files"

// Write prints a line per candidate, with what it is about behind a tab.
func (c Candidates) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	if c.files {
		_, _ = out.WriteString(filesToo + "\n")
	}
	for _, w := range c.words {
		_, _ = out.WriteString(w.word + "\t" + w.about + "\n")
	}
	return out.Flush()
}

// Complete finds what the last of the words behind the program's name may become.
// Flags of features that this build does not have are left out.
func Complete(app *cli.App, words []string, ask Ask) Candidates {
	if len(words) == 0 {
		words = []string{""}
	}
	// A shell that breaks words at = sends three of them, and wants the value alone.
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "=" })
	before, word := words[:len(words)-1], words[len(words)-1]
	if slices.Contains(before, "--") {
		return Candidates{files: true}
	}
	path, flags, below, rest := Find(app, before)
	leaf := At(app.Commands, path)
	if n := len(before); n > 0 && isFlag(before[n-1]) && takesValue(flags, before[n-1]) {
		if canonical(flags, before[n-1]) == "--incident" {
			return found(ask(IncidentID, before[:n-1], word), "")
		}
		return valuesOf(flags, before[n-1], word, "")
	}
	switch name, value, valued := strings.Cut(word, "="); {
	case valued && canonical(flags, name) == "--incident":
		return found(ask(IncidentID, before, value), name+"=")
	case strings.HasPrefix(word, "-") && valued:
		return valuesOf(flags, name, value, name+"=")
	case strings.HasPrefix(word, "-"):
		return flagCandidates(flags, word)
	case len(below) > 0 && !slices.ContainsFunc(rest, func(w string) bool { return !isFlag(w) }):
		return commandCandidates(below, word)
	}
	if leaf != nil && leaf.ArgsUsage != "" {
		if some := found(ask(strings.TrimSuffix(strings.Trim(leaf.ArgsUsage, "[]"), "..."), before, word), ""); len(some.words) > 0 || strings.Contains(leaf.ArgsUsage, "-ID") {
			return some
		}
	}
	return Candidates{files: leaf != nil && leaf.ArgsUsage != ""}
}

// aboutMost is how many characters tell what a word is about.
const aboutMost = 80

// found are words that were asked for. They are those of somebody else, so a word that could
// not stand in a command line as it is is left out.
func found(words []Word, prefix string) (c Candidates) {
	for _, w := range words {
		if strings.ContainsFunc(w.Text, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_.:", r)
		}) {
			continue
		}
		c.words = append(c.words, candidate{prefix + w.Text, terminal.Shorten(terminal.Printable(w.About), aboutMost)})
	}
	return c
}

// At is the command with this name, that of its groups in front; nil for none.
func At(commands []*cli.Command, path []string) (leaf *cli.Command) {
	for _, name := range path {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) })
		if i < 0 {
			return nil
		}
		leaf, commands = commands[i], commands[i].Subcommands
	}
	return leaf
}

func commandCandidates(commands []*cli.Command, begin string) (c Candidates) {
	for _, cmd := range commands {
		if !cmd.Hidden && strings.HasPrefix(cmd.Name, begin) {
			c.words = append(c.words, candidate{cmd.Name, cmd.Usage})
		}
	}
	return c
}

func flagCandidates(flags []cli.Flag, begin string) (c Candidates) {
	for _, s := range Available(flags) {
		name, _, _ := strings.Cut(s.Flag, "[") // of a flag whose value may be left out
		if word := "--" + name; strings.HasPrefix(word, begin) {
			c.words = append(c.words, candidate{word, s.Help})
		}
	}
	return c
}

// valuesOf gives the values of a flag that begin with what was typed. What is not one
// of a few words may be a file.
func valuesOf(flags []cli.Flag, name, begin, prefix string) (c Candidates) {
	for _, s := range Available(flags) {
		if name = strings.TrimLeft(name, "-"); name != s.Flag && name != s.Short {
			continue
		}
		words := s.Words
		switch {
		case s.Word == "BOOL":
			words = []string{"true", "false"}
		case s.Flag == "to":
			words, c.files = sink.Schemes(), false
		case s.Flag == "pipeline":
			words, c.files = pipeline.Builtins[:], true
		case words == nil:
			c.files = s.Word == "VALUE"
		}
		for _, w := range words {
			if strings.HasPrefix(w, begin) {
				c.words = append(c.words, candidate{prefix + w, ""})
			}
		}
	}
	return c
}
