package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/client"
	"github.com/sluicehq/sluice/cmd/sluice/shell"
	"github.com/sluicehq/sluice/cmd/sluice/silences"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/selector"
)

const silencesPath = "/api/v1/silences"

func (e *env) silenceCommands() []*cli.Command {
	add := append([]cli.Flag{
		&cli.StringFlag{Name: "for", Usage: "How long the silence lasts, such as 2h; without --for and --until it has no end"},
		&cli.StringFlag{Name: "from", Usage: "When it begins: RFC 3339, or a span from now on such as 30m; now when absent"},
		&cli.StringFlag{Name: "until", Usage: "When it ends: RFC 3339, or a span from now on"},
		&cli.StringFlag{Name: "comment", Usage: "Why"},
		&cli.StringFlag{Name: "created-by", Usage: "Who; the user when absent"},
		&cli.StringFlag{Name: "incident", Usage: "Match the results of this open incident"},
		&cli.StringFlag{Name: "result", Usage: "Match results of the rule of the first result in this file (- for stdin)"},
		repeatedFlag("With --result: match the value that the result has of this field, too; repeatable", "match"),
	}, clientFlags()...)
	extend := append([]cli.Flag{
		&cli.StringFlag{Name: "for", Usage: "How much longer, such as 1h"},
		&cli.StringFlag{Name: "until", Usage: "Its new end: RFC 3339, or a span from now on"},
	}, clientFlags()...)
	return []*cli.Command{
		command("add", "make a silence", "MATCHER...", add, e.silenceAdd),
		command("list", "list the silences", "", clientFlags(), e.silenceList),
		command("expire", "end silences by deleting them", silenceIDs, clientFlags(), e.silenceExpire),
		command("extend", "let a silence end later", silenceID, extend, e.silenceExtend),
	}
}

// What stands for ids in the usage of commands, by which completion knows them.
const (
	silenceID  = "SILENCE-ID"
	silenceIDs = silenceID + "..."
	incidentID = shell.IncidentID
)

// listedSilence is a silence as the daemon lists it.
type listedSilence struct {
	ID        string               `json:"id"`
	Matchers  []selector.Condition `json:"matchers"`
	StartsAt  string               `json:"starts_at"`
	EndsAt    string               `json:"ends_at"`
	CreatedBy string               `json:"created_by"`
	Comment   string               `json:"comment"`
	Origin    string               `json:"origin"`
	State     string               `json:"state"`
}

func (e *env) silenceAdd(c *cli.Context) error {
	l, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	now := time.Now()
	start, end, err := silences.Span{For: c.String("for"), From: c.String("from"), Until: c.String("until")}.Times(now)
	if err != nil {
		return configFault(err)
	}
	spec := silence.Spec{StartsAt: silences.Instant(start), EndsAt: silences.Instant(end), Comment: c.String("comment"), CreatedBy: userName()}
	if c.IsSet("created-by") {
		spec.CreatedBy = c.String("created-by")
	}
	for _, text := range c.Args().Slice() {
		m, err := silences.ParseMatcher(text)
		if err != nil {
			return configFault(err)
		}
		spec.Matchers = append(spec.Matchers, m)
	}
	more, err := e.ofResult(c)
	if err != nil {
		return configFault(err)
	}
	spec.Matchers = append(spec.Matchers, more...)
	if len(spec.Matchers) == 0 && !c.IsSet("incident") {
		return configFaultf("a silence needs a matcher, such as rule=RULE or 'match.User=~\"adm.*\"', or --incident or --result")
	}
	cl, err := e.client(c, l, clientTimeout)
	if err != nil {
		return err
	}
	defer cl.Close()
	what := "results"
	if id := c.String("incident"); c.IsSet("incident") {
		snapshot, err := cl.Ask(c.Context, http.MethodGet, incidentPath(id), nil)
		if err != nil {
			return configFault(err)
		}
		var of []selector.Condition
		if of, what, err = silences.OfIncident(snapshot); err != nil {
			return configFault(cl.Unreadable(http.MethodGet, incidentPath(id), err))
		}
		spec.Matchers = append(spec.Matchers, of...)
	}
	answer, id, err := makeSilence(c, cl, spec)
	if err != nil {
		return configFault(err)
	}
	out.note("silence %s mutes %s: %s", id, what, terminal.Printable(silences.FormatMatchers(spec.Matchers)))
	if end.IsZero() {
		out.note("warning: it has no end (sluice silence expire %s ends it)", id)
	} else {
		out.note("it ends at %s", spec.EndsAt)
	}
	return out.writeAnswer(answer)
}

// ofResult returns matchers for results such as that of --result.
func (e *env) ofResult(c *cli.Context) ([]selector.Condition, error) {
	fields := repeated(c, "match")
	if !c.IsSet("result") {
		if len(fields) > 0 {
			return nil, errors.New("--match names fields of the result of --result")
		}
		return nil, nil
	}
	line, err := firstLine(e.In, c.String("result"))
	if err != nil {
		return nil, fmt.Errorf("--result: %w", err)
	}
	matchers, err := silences.OfResult(line, fields)
	if err != nil {
		return nil, fmt.Errorf("--result: %w", err)
	}
	return matchers, nil
}

// maxResult bounds the line of a result.
const maxResult = 16 << 20

// firstLine is the first line of a file that is not blank; - is standard input.
func firstLine(stdin io.Reader, name string) ([]byte, error) {
	from := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, maxResult))
	if err != nil {
		return nil, err
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(text), []byte("\n"))
	if len(line) == 0 {
		return nil, fmt.Errorf("%s holds no result", name)
	}
	return bytes.TrimSpace(line), nil
}

// makeSilence asks for a silence and returns the answer and the id in it.
func makeSilence(c *cli.Context, cl *client.Client, spec silence.Spec) (answer []byte, id string, err error) {
	body, err := json.Marshal(spec)
	if err != nil {
		return nil, "", err
	}
	if answer, err = cl.Ask(c.Context, http.MethodPost, silencesPath, body); err != nil {
		return nil, "", err
	}
	var made struct{ ID string }
	if err := json.Unmarshal(answer, &made); err != nil || made.ID == "" {
		return nil, "", cl.Unreadable(http.MethodPost, silencesPath, errors.Join(errors.New("no id"), err))
	}
	return answer, terminal.Printable(made.ID), nil
}

// userName is who runs the command, empty when nobody can tell.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return os.Getenv("USER")
}

func (e *env) silenceList(c *cli.Context) error {
	l, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	out.showFigures()
	cl, err := e.client(c, l, clientTimeout)
	if err != nil {
		return err
	}
	defer cl.Close()
	var table *terminal.Table
	if out.tabular() {
		table = out.list([]string{"STATE", "ID", "STARTS", "ENDS", "ORIGIN", "CREATED BY", "MATCHERS", "COMMENT"})
	}
	n := 0
	err = cl.Each(c.Context, silencesPath, "silences", func(entry json.RawMessage) error {
		n++
		if table == nil {
			return out.writeObject(entry)
		}
		var s listedSilence
		if err := json.Unmarshal(entry, &s); err != nil {
			return cl.Unreadable(http.MethodGet, silencesPath, err)
		}
		row := []string{s.State, s.ID, s.StartsAt, s.EndsAt, s.Origin, s.CreatedBy, silences.FormatMatchers(s.Matchers), s.Comment}
		if out.format == formatTable {
			row[6] = terminal.Shorten(row[6], matchersMost)
		}
		color := ""
		if s.State == string(silence.Active) {
			color = terminal.Yellow
		}
		return written(table.Row(row, color))
	})
	return out.endList(table, err, n, "silences")
}

// matchersMost is the width of a cell of matchers on a terminal.
const matchersMost = 80

// list makes a table that fits into the terminal.
func (c *console) list(header []string) *terminal.Table {
	t := c.table(header)
	if c.terminal && c.format == formatTable {
		t.Fit(c.columns())
	}
	return t
}

// endList writes what a table held back, if there is one, and says how many entries there are.
func (c *console) endList(table *terminal.Table, err error, n int, things string) error {
	if table != nil {
		err = errors.Join(written(table.Flush()), err)
	}
	switch {
	case isClosedPipe(err), errors.Is(err, errWrite):
		return err
	case err != nil:
		return configFault(err)
	case c.talkTo:
		c.summary("%d %s", n, things)
	}
	return nil
}

// written is an error of stdout.
func written(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

// writeAnswer writes an object of texts: a row of a table where tables are asked for.
func (c *console) writeAnswer(object []byte) error {
	if !c.tabular() {
		return c.writeObject(object)
	}
	all, err := members(object)
	if err != nil {
		return configFault(err)
	}
	var header, row []string
	for _, m := range all {
		header, row = append(header, strings.ToUpper(m.name)), append(row, string(plainText(m.value)))
	}
	return written(c.writeTable(header, [][]string{row}))
}

func (e *env) silenceExpire(c *cli.Context) error {
	l, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	if !c.Args().Present() {
		return configFaultf("name the silence by its id (sluice silence list shows them)")
	}
	cl, err := e.client(c, l, clientTimeout)
	if err != nil {
		return err
	}
	defer cl.Close()
	var faults []error
	for _, id := range c.Args().Slice() {
		answer, err := deleteSilence(c, cl, id)
		if err == nil {
			err = out.writeAnswer(answer)
		}
		faults = append(faults, err)
		if isClosedPipe(err) {
			return err
		}
	}
	if err := errors.Join(faults...); err != nil {
		return configFault(err)
	}
	return nil
}

func deleteSilence(c *cli.Context, cl *client.Client, id string) ([]byte, error) {
	if id == "" {
		return nil, errors.New("the id of the silence is empty")
	}
	return cl.Ask(c.Context, http.MethodDelete, silencesPath+"/"+url.PathEscape(id), nil)
}

// silenceExtend makes the same silence with a later end and deletes the old one then, so that
// results are muted all the while.
func (e *env) silenceExtend(c *cli.Context) error {
	l, out, err := e.loadChecked(c, "")
	if err != nil {
		return err
	}
	if c.NArg() != 1 {
		return configFaultf("name one silence by its id (sluice silence list shows them)")
	}
	span := silences.Span{For: c.String("for"), Until: c.String("until")}
	if _, err := span.Later(time.Time{}, time.Now()); err != nil {
		return configFault(err)
	}
	cl, err := e.client(c, l, clientTimeout)
	if err != nil {
		return err
	}
	defer cl.Close()
	id := c.Args().First()
	old, err := findSilence(c, cl, id)
	if err != nil {
		return configFault(err)
	}
	before, err := time.Parse(time.RFC3339, old.EndsAt)
	if old.EndsAt == "" || err != nil {
		return configFaultf("the silence %s has no end that could be later", id)
	}
	end, err := span.Later(before, time.Now())
	if err != nil {
		return configFault(err)
	}
	spec := silence.Spec{
		Matchers: old.Matchers, StartsAt: old.StartsAt, EndsAt: silences.Instant(end), CreatedBy: old.CreatedBy, Comment: old.Comment,
	}
	answer, made, err := makeSilence(c, cl, spec)
	if err != nil {
		return configFault(err)
	}
	if _, err := deleteSilence(c, cl, id); err != nil {
		return configFault(errors.Join(fmt.Errorf("silence %s ends at %s and takes the place of %s, which is still there", made, spec.EndsAt, id), err))
	}
	out.note("silence %s takes the place of %s and ends at %s", made, id, spec.EndsAt)
	if old.Origin == string(silence.Static) {
		out.note("warning: %s is one of the alert pipeline file, and comes back with the next reload", id)
	}
	return out.writeAnswer(answer)
}

func findSilence(c *cli.Context, cl *client.Client, id string) (found listedSilence, err error) {
	var all []listedSilence
	err = cl.Each(c.Context, silencesPath, "silences", func(entry json.RawMessage) error {
		var s listedSilence
		if err := json.Unmarshal(entry, &s); err != nil {
			return cl.Unreadable(http.MethodGet, silencesPath, err)
		}
		all = append(all, s)
		return nil
	})
	if err != nil {
		return found, err
	}
	i := slices.IndexFunc(all, func(s listedSilence) bool { return s.ID == id })
	if i < 0 {
		return found, fmt.Errorf("there is no silence %q (sluice silence list shows them)", id)
	}
	return all[i], nil
}
