package command

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

// Version is set by the linker; see the Makefile.
var Version string

// Revision is the commit, set likewise.
var Revision string

// version names this build: what the linker was told, else the module's
// version, else the commit it was made from.
func version() string {
	if Version != "" {
		return Version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	return "devel"
}

func revision() string {
	if Revision != "" {
		return Revision
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}

func (e *env) versionCommand() *cli.Command {
	return command("version", "print the version", "", nil, e.printVersion)
}

func (e *env) printVersion(c *cli.Context) error {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	switch f := c.String("output-format"); f {
	case formatJSON, formatNDJSON:
		return writeJSON(e.Out, map[string]string{
			"version": version(), "revision": revision(), "go": runtime.Version(), "platform": platform,
		}, false)
	case "":
	default:
		e.fallback(c, f, "text")
	}
	_, err := fmt.Fprintf(e.Out, "sluice %s (revision %s, %s, %s)\n", version(), revision(), runtime.Version(), platform)
	return err
}
