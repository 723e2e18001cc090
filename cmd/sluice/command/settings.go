package command

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/config"
)

// configFlags makes the flags of a section of the configuration. All but plain
// switches are taken as text: config alone knows what each means. The category of such
// a flag is the dotted key of its section.
func configFlags(section string) []cli.Flag {
	var flags []cli.Flag
	for _, info := range config.FlagsOf(section) {
		flags = append(flags, newFlag(info))
	}
	return flags
}

func newFlag(info config.Setting) cli.Flag {
	var aliases, vars []string
	if info.Short != "" {
		aliases = []string{info.Short}
	}
	if info.Env != "" {
		vars = []string{info.Env}
	}
	switch {
	case info.Word == "":
		return &cli.BoolFlag{Name: info.Flag, Aliases: aliases, EnvVars: vars, Category: info.Section}
	case info.List:
		return &cli.GenericFlag{Name: info.Flag, Aliases: aliases, EnvVars: vars, Category: info.Section, Value: &values{}}
	}
	return &cli.StringFlag{Name: info.Flag, Aliases: aliases, EnvVars: vars, Category: info.Section}
}

// daemonFlags are flags of the daemon by name, for commands that do the same as it. Prefix
// goes before what each is for.
func daemonFlags(prefix string, names ...string) (flags []cli.Flag) {
	for _, info := range config.FlagsOf("daemon") {
		if slices.Contains(names, info.Flag) {
			flags = append(flags, daemonFlag(info, prefix))
		}
	}
	return flags
}

func daemonFlag(info config.Setting, prefix string) cli.Flag {
	usage, vars := prefix+info.Help, []string(nil)
	if info.Env != "" {
		usage, vars = fmt.Sprintf("%s ($%s)", usage, info.Env), []string{info.Env}
	}
	if info.Word == "" {
		return &cli.BoolFlag{Name: info.Flag, EnvVars: vars, Usage: usage}
	}
	return &cli.StringFlag{Name: info.Flag, EnvVars: vars, Usage: usage}
}

// values is a flag that may be repeated. The library's own splits at commas and
// says everything twice in help.
type values []string

// aliasCopy is what the library sets under the other names of a flag; no
// argument of a process can hold it.
const aliasCopy = "\x00"

// Set adds one value.
func (v *values) Set(s string) error {
	if s != aliasCopy {
		*v = append(*v, s)
	}
	return nil
}

// Serialize is the library's way to hand a value to the flag's other names,
// which share it already.
func (v *values) Serialize() string { return aliasCopy }

// String satisfies the library; the default of a list is said in its help.
func (v *values) String() string { return "" }

func repeatedFlag(usage, name string, aliases ...string) *cli.GenericFlag {
	return &cli.GenericFlag{Name: name, Aliases: aliases, Usage: usage, Value: &values{}}
}

// repeated returns all values of such a flag.
func repeated(c *cli.Context, name string) []string {
	if v, ok := c.Generic(name).(*values); ok {
		return *v
	}
	return nil
}

// given lists the flags of a section that were set, as config takes them.
func given(c *cli.Context, section string) []config.Flag {
	var flags []config.Flag
	for _, info := range config.FlagsOf(section) {
		if !c.IsSet(info.Flag) {
			continue
		}
		texts := []string{c.String(info.Flag)}
		switch {
		case info.Word == "":
			texts[0] = strconv.FormatBool(c.Bool(info.Flag))
		case info.List:
			texts = repeated(c, info.Flag)
		}
		flags = append(flags, config.Flag{Name: info.Flag, Values: texts})
	}
	return flags
}

// load merges every layer for a command whose flags belong to section; an empty
// one stands for commands that have only global flags.
func (e *env) load(c *cli.Context, section string) (*config.Loaded, error) {
	return e.loadLayers(c, section, true)
}

// loadLayers is load with or without the layer of the flags. With an error it
// returns what could be read, if anything.
func (e *env) loadLayers(c *cli.Context, section string, flags bool) (*config.Loaded, error) {
	o := config.Options{File: c.String("config"), Section: section, Environ: os.Environ()}
	if c.IsSet("config") && o.File == "" {
		return nil, configFault(errors.New("--config: the path is empty"))
	}
	if flags {
		o.Flags = given(c, "global")
	}
	if flags && section != "" {
		o.Flags = append(o.Flags, given(c, section)...)
	}
	return loadOptions(o)
}

func loadOptions(o config.Options) (*config.Loaded, error) {
	l, err := config.Load(o)
	if err != nil {
		return l, configFault(err)
	}
	return l, nil
}

// loadChecked is load with warnings printed and the global settings checked.
func (e *env) loadChecked(c *cli.Context, section string) (*config.Loaded, *console, error) {
	return e.loadPart(c, section, section)
}

// loadPart is loadChecked for a command that has some flags of a section, of which it
// uses what it checks itself.
func (e *env) loadPart(c *cli.Context, section, checked string) (*config.Loaded, *console, error) {
	l, err := e.load(c, section)
	if err != nil {
		return nil, nil, err
	}
	return e.checkedPart(c, l, checked)
}

func (e *env) checkedPart(c *cli.Context, l *config.Loaded, checked string) (*config.Loaded, *console, error) {
	e.notice(l)
	if problems := l.Check(checked); len(problems) > 0 {
		return nil, nil, configFault(problems)
	}
	return l, e.console(fullName(c), l.Config.Global), nil
}

// notice prints what was odd about the load.
func (e *env) notice(l *config.Loaded) {
	e.warnUnknown(l)
	for _, w := range slices.Concat(l.Ignored, l.Warnings) {
		e.warn(w.Error())
	}
}

func (e *env) warnUnknown(l *config.Loaded) {
	for _, k := range l.UnknownKeys {
		where := config.Problem{File: k.File, Line: k.Line, Suggestion: k.Suggestion}
		e.warn(fmt.Sprintf("unknown config key '%s' in %s", k.Key, where.Error()))
	}
}

func (e *env) warn(warnings ...string) {
	for _, w := range warnings {
		fmt.Fprintf(e.Err, "warning: %s\n", w)
	}
}

func configFlag(short bool) *cli.StringFlag {
	f := &cli.StringFlag{Name: "config", Usage: "Configuration file to read instead of the usual ones"}
	if short {
		f.Aliases = []string{"c"}
	}
	return f
}

// dryRun prints the section that would take effect.
func (e *env) dryRun(l *config.Loaded, section string) error {
	text, err := l.ShowYAML(section)
	if err != nil {
		return configFault(err)
	}
	fmt.Fprintf(e.Err, "# effective %s section, all layers and flags merged; nothing was started\n", section)
	_, err = e.Out.Write(text)
	return err
}
