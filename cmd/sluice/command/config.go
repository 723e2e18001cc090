package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/checks"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/cmd/sluice/shell"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/internal/unavailable"
)

func (e *env) configCommands() []*cli.Command {
	format := shell.Choice("format", "Form of the product", "text", "json")
	return []*cli.Command{
		command("init", "write a commented configuration file", "", []cli.Flag{
			&cli.StringFlag{Name: "output", Aliases: []string{"o"}, Value: "./sluice.yaml", Usage: "File to write"},
			&cli.BoolFlag{Name: "force", Usage: "Overwrite the file"},
		}, e.configInit),
		command("validate", "load all layers and report what is wrong", "", []cli.Flag{
			configFlag(true), format,
			&cli.BoolFlag{Name: "strict", Usage: "Unknown keys, ignored variables, and settings left to flags, are problems"},
		}, e.configValidate),
		command("show", "print the merged configuration and where each value comes from", "", []cli.Flag{
			configFlag(true),
			&cli.StringFlag{Name: "for", Usage: "Only this section, such as daemon"},
			shell.Choice("format", "Form of the product", "text", "json", "yaml"),
		}, e.configShow),
		command("path", "list the files that are read, lowest precedence first", "", []cli.Flag{configFlag(true), format}, e.configPath),
		command("schema", "print the JSON Schema of a configuration file", "", nil, e.configSchema),
		command("openapi", "print the OpenAPI document of the HTTP API", "", nil, e.configOpenAPI),
		e.configReloadCommand(),
		e.configGenCertCommand(),
	}
}

func (e *env) configInit(c *cli.Context) error {
	name, mode := c.String("output"), os.O_WRONLY|os.O_CREATE|os.O_EXCL
	if c.Bool("force") {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	f, err := os.OpenFile(name, mode, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return configFaultf("%s exists already; --force overwrites it", name)
	}
	if err != nil {
		return configFault(err)
	}
	if _, err := f.Write(config.Template()); err != nil {
		return configFault(errors.Join(err, f.Close()))
	}
	if err := f.Close(); err != nil {
		return configFault(err)
	}
	fmt.Fprintf(e.Err, "wrote %s\n", name)
	return nil
}

// validation is the product of `config validate --format json`.
type validation struct {
	OK       bool             `json:"ok"`
	Sources  []string         `json:"sources"`
	Unknown  []config.Problem `json:"unknown_keys"`
	Inactive []string         `json:"inactive_sections"`
	Warnings []config.Problem `json:"warnings"`
	Problems []config.Problem `json:"problems"`
	Error    string           `json:"error,omitempty"` // message of the first problem
}

func (e *env) configValidate(c *cli.Context) error {
	l, failed := e.load(c, "")
	format, err := e.localFormat(c, l, "text", "json")
	if err != nil {
		return err
	}
	report := checks.Validate(c.Context, l, failed, os.Getenv, c.Bool("strict"))
	if l == nil { // nothing was read
		l = new(config.Loaded)
	}
	if format == formatJSON {
		v := validation{
			OK: len(report.Problems) == 0, Sources: append([]string{}, l.Files...), Inactive: checks.Inactive(l),
			Unknown: append([]config.Problem{}, l.UnknownKeys...), Warnings: append([]config.Problem{}, report.Warnings...),
			Problems: append([]config.Problem{}, report.Problems...),
		}
		if !v.OK {
			v.Error = v.Problems[0].Message
		}
		err = writeJSON(e.Out, v, terminal.Is(e.Out))
	} else {
		e.reportValidation(l, report, c.Bool("strict"))
	}
	if code := report.Code(); err == nil && code != exitOK {
		err = silent(code)
	}
	return err
}

func (e *env) reportValidation(l *config.Loaded, report *checks.Report, strict bool) {
	for _, name := range l.Files {
		fmt.Fprintf(e.Err, "loaded %s\n", name)
	}
	if !strict {
		e.warnUnknown(l)
	}
	for _, w := range report.Warnings {
		e.warn(w.Error())
	}
	for _, p := range report.Problems {
		fmt.Fprintln(e.Err, p.Error())
	}
	if n := len(report.Problems); n > 0 {
		fmt.Fprintln(e.Err, plural.Of(n, "problem")+".")
	} else {
		fmt.Fprintln(e.Err, "Config is valid.")
	}
}

func (e *env) configShow(c *cli.Context) error {
	l, err := e.load(c, "")
	if err != nil {
		return err
	}
	format, err := e.localFormat(c, l, "text", "json", "yaml")
	if err != nil {
		return err
	}
	// What is shown is what every command finds, so this one's flags are no part of it.
	if l, err = e.loadLayers(c, "", false); err != nil {
		return err
	}
	e.notice(l)
	section := c.String("for")
	if section != "" && !slices.Contains(l.Sections(), section) {
		names := slices.DeleteFunc(l.Sections(), func(name string) bool {
			_, _, off := unavailable.Setting(name, "")
			return off
		})
		return configFault(suggest.Wrap(fmt.Errorf("unknown section %q (%s)", section, strings.Join(names, ", ")), section, names))
	}
	if format == "yaml" {
		text, err := l.ShowYAML(section)
		if err != nil {
			return configFault(err)
		}
		_, err = e.Out.Write(text)
		return err
	}
	leaves := l.Leaves(section)
	if format == formatJSON {
		return writeJSON(e.Out, nested(leaves), terminal.Is(e.Out))
	}
	slices.SortFunc(leaves, func(a, b config.Leaf) int { return strings.Compare(a.Path(), b.Path()) })
	var b bytes.Buffer
	for _, leaf := range leaves {
		fmt.Fprintf(&b, "%s = ", leaf.Path())
		if err := writeJSON(&b, leaf.Value, false); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the line end
		fmt.Fprintf(&b, "  (%s)\n", leaf.Layer)
	}
	_, err = e.Out.Write(b.Bytes())
	return err
}

// shown is the product of `config show --format json`.
type shown struct {
	Config  map[string]any          `json:"config"`
	Sources map[string]config.Layer `json:"sources"`
}

func nested(leaves []config.Leaf) shown {
	out := shown{make(map[string]any), make(map[string]config.Layer, len(leaves))}
	for _, leaf := range leaves {
		out.Sources[leaf.Path()] = leaf.Layer
		m, last := out.Config, len(leaf.Parts)-1
		for _, part := range leaf.Parts[:last] {
			below, ok := m[part].(map[string]any)
			if !ok {
				below = make(map[string]any)
				m[part] = below
			}
			m = below
		}
		m[leaf.Parts[last]] = leaf.Value
	}
	return out
}

func (e *env) configPath(c *cli.Context) error {
	l, err := e.load(c, "")
	if err != nil {
		return err
	}
	format, err := e.localFormat(c, l, "text", "json")
	if err != nil {
		return err
	}
	switch {
	case format == "json":
		return writeJSON(e.Out, append([]string{}, l.Files...), terminal.Is(e.Out))
	case len(l.Files) == 0:
		_, err = fmt.Fprintln(e.Out, "none")
	default:
		_, err = fmt.Fprintln(e.Out, strings.Join(l.Files, "\n"))
	}
	return err
}

func (e *env) configSchema(c *cli.Context) error {
	if f := c.String("output-format"); f != "" && f != formatJSON {
		e.fallback(c, f, "JSON")
	}
	return writeJSON(e.Out, config.JSONSchema(), true)
}

// localFormat is the command's own --format, which wins over the global one.
// That one, from the flag or from l when there is a configuration, counts where
// the command knows it; text is what every command here can print.
func (e *env) localFormat(c *cli.Context, l *config.Loaded, allowed ...string) (string, error) {
	if c.IsSet("format") {
		f := c.String("format")
		if !slices.Contains(allowed, f) {
			return "", configFault(suggest.Wrap(fmt.Errorf("--format: %q is not allowed (%s)", f, strings.Join(allowed, ", ")), f, allowed))
		}
		return f, nil
	}
	f := c.String("output-format")
	if l != nil {
		f = l.Config.Global.OutputFormat
	}
	switch {
	case f == formatJSON || f == formatNDJSON:
		return formatJSON, nil
	case f != "":
		e.fallback(c, f, "text")
	}
	return "text", nil
}

// fallback warns that the command does not produce a format.
func (e *env) fallback(c *cli.Context, format, to string) {
	if !c.Bool("quiet") {
		e.warn(fmt.Sprintf("%s has no %s output, it prints %s", fullName(c), format, to))
	}
}

// writeJSON writes one value and a line end.
func writeJSON(w io.Writer, v any, pretty bool) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if pretty {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}
