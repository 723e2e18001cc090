package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
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

func (e *env) silenceList(c *cli.Context) error {
	header := []string{"STATE", "ID", "STARTS", "ENDS", "ORIGIN", "CREATED BY", "MATCHERS", "COMMENT"}
	return listed(e, c, silencesPath, "silences", "silence", header, func(out *console, s *listedSilence) (row []string, color string) {
		row = []string{s.State, s.ID, s.StartsAt, s.EndsAt, s.Origin, s.CreatedBy, silences.FormatMatchers(s.Matchers), s.Comment}
		if out.format == formatTable {
			row[6] = terminal.Shorten(row[6], matchersMost)
		}
		if s.State == string(silence.Active) {
			color = terminal.Yellow
		}
		return row, color
	})
}

// matchersMost is the width of a cell of matchers on a terminal.
const matchersMost = 80

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
	answer, err := cl.Ask(c.Context, http.MethodDelete, silencesPath+"/"+url.PathEscape(id), nil)
	if fault := new(client.Fault); errors.As(err, &fault) && fault.Status == http.StatusNotFound {
		err = fmt.Errorf("%w (sluice silence list shows them)", err)
	}
	return answer, err
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
		return configFault(errors.Join(fmt.Errorf("silence %s ends at %s and takes the place of %s, which is still there", made.ID, spec.EndsAt, id), err))
	}
	out.note("silence %s takes the place of %s and ends at %s", made.ID, id, spec.EndsAt)
	made.warn(out)
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
