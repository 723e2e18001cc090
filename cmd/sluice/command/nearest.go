package command

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/internal/unavailable"
)

// flagNames are the names of the flags of a command that do something in this build.
func flagNames(c *cli.Context) []string {
	off := make(map[string]bool)
	for _, section := range []string{"daemon", "eval"} {
		for _, s := range config.FlagsOf(section) {
			if _, _, found := unavailable.Setting(s.Key, s.Flag); found {
				off[s.Flag] = true
			}
		}
	}
	var names []string
	if c.Command != nil {
		for _, f := range c.Command.Flags {
			if name := f.Names()[0]; !off[name] {
				names = append(names, name)
			}
		}
	}
	return names
}

// nearest returns the word that is at most two edits away, or that holds what was
// written or is held by it; empty when none does.
func nearest(word string, words []string) string {
	best := suggest.Nearest(word, words)
	if best != "" || len(word) < 3 {
		return best
	}
	for _, w := range words {
		if strings.Contains(w, word) || len(w) > 3 && strings.Contains(word, w) {
			return w
		}
	}
	return ""
}
