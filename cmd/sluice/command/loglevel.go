package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/internal/suggest"
)

const logLevelPath = "/api/v1/log-level"

func (e *env) logLevelCommand() *cli.Command {
	flags := append(clientFlags(), &cli.StringFlag{Name: "for", Usage: "How long the level is in force, such as 10m; until the next change when absent"})
	return command("log-level", "show or change what a running daemon logs", "[LEVEL]", flags, e.logLevel)
}

// levelMeant is the level that somebody may have meant with an unknown flag of engine
// log-level, such as --level or --debug; empty for other flags and commands.
func levelMeant(c *cli.Context, flag string) string {
	switch {
	case c.Command == nil || c.Command.Name != "log-level":
		return ""
	case slices.Contains(levels, strings.ToLower(flag)):
		return strings.ToLower(flag)
	case suggest.Nearest(flag, []string{"level"}) != "" || nearest(flag, flagNames(c)) == "log-level":
		return "debug"
	}
	return ""
}

var levels = []string{"off", "error", "warn", "info", "debug", "trace"}

// logLevelState is what the daemon says of its level.
type logLevelState struct {
	Level  string     `json:"level"`
	Origin string     `json:"origin"`
	Until  *time.Time `json:"until"`
	Then   string     `json:"then"`
}

func (e *env) logLevel(c *cli.Context) error {
	switch {
	case c.Args().Len() > 1:
		return configFaultf("engine log-level takes one level, got %q as well (several targets are one argument: info,sluice.sink=debug)", c.Args().Get(1))
	case c.IsSet("for") && !c.Args().Present():
		return configFaultf("--for: a level is missing, such as engine log-level debug --for %s", c.String("for"))
	}
	l, out, cl, err := e.connect(c)
	if err != nil {
		return err
	}
	defer cl.Close()
	method, body := http.MethodGet, []byte(nil)
	if c.Args().Present() {
		method = http.MethodPut
		if body, err = json.Marshal(logLevelChange{c.Args().First(), c.String("for")}); err != nil {
			return configFault(err)
		}
	}
	answer, err := cl.Ask(c.Context, method, logLevelPath, body)
	if err != nil {
		return configFault(err)
	}
	var state logLevelState
	if err := json.Unmarshal(answer, &state); err != nil || state.Level == "" {
		return configFault(cl.Unreadable(method, logLevelPath, cmp.Or(err, errors.New("no level"))))
	}
	if own := l.Config.Global.LogLevel; own != "" && !c.Args().Present() {
		out.note("hint: --log-level is about the log of this command; engine log-level %s changes what the daemon logs", own)
	}
	return out.writeLogLevel(state, answer)
}

// logLevelChange asks for another level.
type logLevelChange struct {
	Level string `json:"level"`
	For   string `json:"for,omitempty"`
}

func (c *console) writeLogLevel(s logLevelState, answer []byte) error {
	if !c.tabular() {
		return c.writeObject(answer)
	}
	rows := [][]string{{"level", s.Level}, {"origin", s.Origin}}
	if s.Until != nil {
		rows = append(rows, []string{"until", s.Until.Format(time.RFC3339)}, []string{"then", s.Then})
	}
	return c.writeTable([]string{"LOG", "VALUE"}, rows)
}
