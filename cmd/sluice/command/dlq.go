package command

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/deadletters"
	"github.com/sluicehq/sluice/cmd/sluice/shell"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
)

func (e *env) dlqCommands() []*cli.Command {
	jsonFlag := &cli.BoolFlag{Name: "json", Usage: "One JSON object a line, also on a terminal"}
	return []*cli.Command{
		command("list", "list the dead letters of files", "FILE... (- for stdin)", append(dlqFilterFlags(), jsonFlag), e.dlqList),
		command("show", "print one dead letter with all it holds", "NUMBER FILE... (- for stdin)", nil, e.dlqShow),
		command("replay", "send dead letters on their way again", "FILE (- for stdin)", dlqReplayFlags(), e.dlqReplay),
	}
}

func dlqFilterFlags() []cli.Flag {
	return []cli.Flag{
		repeatedFlag("Only those of this sink; repeatable", "sink"),
		shell.Choices(repeatedFlag("Only those of this stage; repeatable", "stage"), deadletters.Stages()...),
		&cli.StringFlag{Name: "error", Usage: "Only those whose error has this text, in any case"},
		&cli.StringFlag{Name: "since", Usage: "Only those from this time on: RFC 3339, or a span before now such as 2h"},
		&cli.StringFlag{Name: "until", Usage: "Only those before this time: RFC 3339, or a span before now such as 30m"},
	}
}

// dlqFilter reads the flags of a filter, and writes them as they select.
func dlqFilter(c *cli.Context) (f deadletters.Filter, selection string, err error) {
	f = deadletters.Filter{Sinks: repeated(c, "sink"), Stages: repeated(c, "stage"), Error: c.String("error")}
	if err := deadletters.CheckStages(f.Stages); err != nil {
		return f, "", configFaultf("--stage: %w", err)
	}
	var flags []string
	add := func(name string, values ...string) {
		for _, v := range values {
			if v != "" {
				flags = append(flags, "--"+name+" "+v)
			}
		}
	}
	add("sink", f.Sinks...)
	add("stage", f.Stages...)
	add("error", f.Error)
	now := time.Now()
	for _, bound := range []struct {
		name string
		to   *time.Time
	}{{"since", &f.Since}, {"until", &f.Until}} {
		if text := c.String(bound.name); text != "" {
			if *bound.to, err = deadletters.ParseTime(text, now); err != nil {
				return f, "", configFaultf("--%s: %w", bound.name, err)
			}
			add(bound.name, text)
		}
	}
	return f, strings.Join(flags, " "), nil
}

// damageTold is how many damaged lines are told one by one.
const damageTold = 20

// dlqFiles are those of the arguments. Lines that are no dead letters are told.
func (e *env) dlqFiles(args []string, out *console) (*deadletters.Files, error) {
	if len(args) == 0 {
		return nil, configFaultf("no file of dead letters is named (- for standard input)")
	}
	f := &deadletters.Files{Names: args, Stdin: e.In, Damaged: tellDamage(out)}
	if err := f.Check(); err != nil {
		return nil, configFault(err)
	}
	return f, nil
}

// tellDamage tells the first damaged lines one by one.
func tellDamage(out *console) func(*deadletters.Damage) {
	n := 0
	return func(d *deadletters.Damage) {
		switch n++; {
		case n <= damageTold:
			fmt.Fprintf(out.Err, "warning: %s\n", terminal.Printable(d.Error()))
		case n == damageTold+1:
			fmt.Fprintln(out.Err, "warning: further damaged lines are only counted")
		}
	}
}

func (e *env) dlqList(c *cli.Context) error {
	_, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	filter, _, err := dlqFilter(c)
	if err != nil {
		return err
	}
	list, err := newLetters(c, out)
	if err != nil {
		return err
	}
	files, err := e.dlqFiles(c.Args().Slice(), out)
	if err != nil {
		return err
	}
	found, err := deadletters.List(files, &filter, list.write)
	if err = errors.Join(list.end(), err); err != nil {
		return configFault(err)
	}
	out.summary("%s", found.String())
	if found.Damaged > 0 {
		return silent(exitFindings)
	}
	return nil
}

func (e *env) dlqShow(c *cli.Context) error {
	_, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	number, err := strconv.Atoi(c.Args().First())
	if err != nil || number < 1 {
		return configFaultf("%q is no number of a dead letter (dlq show NUMBER FILE; dlq list shows the numbers)", c.Args().First())
	}
	files, err := e.dlqFiles(c.Args().Tail(), out)
	if err != nil {
		return err
	}
	r, err := deadletters.Find(files, number)
	if err != nil {
		return configFault(err)
	}
	if out.tabular() {
		out.fallback("JSON")
		out.format = formatNDJSON
	}
	text := append(r.AppendJSON(nil), '\n')
	if out.terminal && !out.explicit {
		text = r.AppendText(nil, terminal.Printable)
	}
	if _, err := e.Out.Write(text); err != nil {
		return configFault(err)
	}
	return nil
}
