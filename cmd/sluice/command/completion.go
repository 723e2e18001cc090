package command

import (
	"bufio"
	_ "embed"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/sigma/pipeline"
)

// The scripts ask the program itself what may follow, so that they fit every release:
// they send the words of the command line up to the cursor to `completion words`.
var (
	//go:embed scripts/completion.bash
	bashCompletion string
	//go:embed scripts/completion.zsh
	zshCompletion string
	//go:embed scripts/completion.fish
	fishCompletion string
)

func (e *env) completionCommands() []*cli.Command {
	script := func(shell, text string) *cli.Command {
		return command(shell, "print the script for "+shell, "", nil, func(*cli.Context) error {
			_, err := e.Out.Write([]byte(text))
			return err
		})
	}
	words := command("words", "print what may follow the words of a command line", "-- WORD...", nil, func(c *cli.Context) error {
		return e.printCandidates(complete(e.app(), c.Args().Slice()))
	})
	words.Hidden = true
	return []*cli.Command{script("bash", bashCompletion), script("zsh", zshCompletion), script("fish", fishCompletion), words}
}

// candidates is what may stand in the place of the last word of a command line.
type candidates struct {
	words []candidate
	files bool // names of files may stand there as well
}

type candidate struct{ word, about string }

// filesToo is the line that tells scripts to complete names of files.
const filesToo = ":files"

// printCandidates prints a line per candidate, with what it is about behind a tab.
func (e *env) printCandidates(c candidates) error {
	out := bufio.NewWriter(e.Out)
	if c.files {
		_, _ = out.WriteString(filesToo + "\n")
	}
	for _, w := range c.words {
		_, _ = out.WriteString(w.word + "\t" + w.about + "\n")
	}
	return out.Flush()
}

// complete finds what the last of the words behind the program's name may become.
// Flags of features that this build does not have are left out.
func complete(app *cli.App, words []string) candidates {
	if len(words) == 0 {
		words = []string{""}
	}
	// A shell that breaks words at = sends three of them, and wants the value alone.
	words = slices.DeleteFunc(slices.Clone(words), func(w string) bool { return w == "=" })
	before, word := words[:len(words)-1], words[len(words)-1]
	if slices.Contains(before, "--") {
		return candidates{files: true}
	}
	path, flags, below, rest := findCommand(app, before)
	leaf := commandAt(app.Commands, path)
	if n := len(before); n > 0 && isFlag(before[n-1]) && takesValue(flags, before[n-1]) {
		return valuesOf(flags, before[n-1], word, "")
	}
	switch name, value, valued := strings.Cut(word, "="); {
	case strings.HasPrefix(word, "-") && valued:
		return valuesOf(flags, name, value, name+"=")
	case strings.HasPrefix(word, "-"):
		return flagCandidates(flags, word)
	case len(below) > 0 && !slices.ContainsFunc(rest, func(w string) bool { return !isFlag(w) }):
		return commandCandidates(below, word)
	}
	return candidates{files: leaf != nil && leaf.ArgsUsage != ""}
}

func commandAt(commands []*cli.Command, path []string) (leaf *cli.Command) {
	for _, name := range path {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) })
		leaf, commands = commands[i], commands[i].Subcommands
	}
	return leaf
}

func commandCandidates(commands []*cli.Command, begin string) (c candidates) {
	for _, cmd := range commands {
		if !cmd.Hidden && strings.HasPrefix(cmd.Name, begin) {
			c.words = append(c.words, candidate{cmd.Name, cmd.Usage})
		}
	}
	return c
}

func flagCandidates(flags []cli.Flag, begin string) (c candidates) {
	for _, s := range available(flags) {
		name, _, _ := strings.Cut(s.Flag, "[") // of a flag whose value may be left out
		if word := "--" + name; strings.HasPrefix(word, begin) {
			c.words = append(c.words, candidate{word, s.Help})
		}
	}
	return c
}

// valuesOf gives the values of a flag that begin with what was typed. What is not one
// of a few words may be a file.
func valuesOf(flags []cli.Flag, name, begin, prefix string) (c candidates) {
	for _, s := range available(flags) {
		if name = strings.TrimLeft(name, "-"); name != s.Flag && name != s.Short {
			continue
		}
		words := choices(s.Help)
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

// choices are the words that the help of a flag allows: it ends with them, in
// parentheses.
func choices(help string) []string {
	_, list, found := strings.Cut(help, "(")
	list, closed := strings.CutSuffix(list, ")")
	words := strings.Split(list, ", ")
	if !found || !closed || len(words) < 2 || slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, " ") }) {
		return nil
	}
	return words
}
