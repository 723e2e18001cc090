package command

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/sluicehq/sluice/cmd/sluice/shell"
	"github.com/sluicehq/sluice/cmd/sluice/terminal"
	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/sigma/ast"
)

const ruleListPath = "/api/v1/rules/list"

// rulesAtOnce is how many rules one answer of the daemon lists.
const rulesAtOnce = 1000

// ruleFilters are the flags that are sent as they are, with the parameters they make.
var ruleFilters = []struct{ flag, parameter string }{
	{"level", "level"},
	{"product", "product"},
	{"category", "category"},
	{"service", "service"},
	{"search", "q"},
	{"hit", "hit"},
	{"sort", "sort"},
}

func (e *env) rulesCommand() *cli.Command {
	orders := make([]string, 0, len(catalog.Orders))
	for _, o := range catalog.Orders {
		orders = append(orders, string(o))
	}
	flags := append(clientFlags(),
		shell.Choice("level", "Only rules of this level", append(ast.LevelNames(), "unknown")...),
		&cli.StringFlag{Name: "product", Usage: "Only rules whose log source has this product"},
		&cli.StringFlag{Name: "category", Usage: "Only rules whose log source has this category"},
		&cli.StringFlag{Name: "service", Usage: "Only rules whose log source has this service"},
		&cli.StringFlag{Name: "search", Usage: "Only rules with this text in the title or id, in any case"},
		shell.Choice("hit", "Only rules that have matched, or that never have", "true", "false"),
		shell.Choice("sort", "Order of the list", orders...),
		&cli.StringFlag{Name: "limit", Usage: "So many rules at most; all when absent"},
	)
	return command("rules", "list the rules of a running daemon with their hits", "", flags, e.rules)
}

// listedRule is a rule as the daemon lists it.
type listedRule struct {
	ID        string
	Title     string
	Level     string
	File      string
	Document  int
	Logsource struct{ Product, Category, Service string }
	Hits      uint64
	LastHit   *time.Time `json:"last_hit"`
}

func (e *env) rules(c *cli.Context) error {
	asked := url.Values{}
	for _, f := range ruleFilters {
		if c.IsSet(f.flag) {
			asked.Set(f.parameter, c.String(f.flag))
		}
	}
	left := 0 // rules to list, when there is a limit
	if c.IsSet("limit") {
		var err error
		if left, err = strconv.Atoi(c.String("limit")); err != nil || left < 1 {
			return configFaultf("--limit: %q is no number of rules", c.String("limit"))
		}
	}
	_, out, cl, err := e.connect(c)
	if err != nil {
		return err
	}
	defer cl.Close()
	w := newRuleWriter(out)
	total := 0
	for offset := 0; ; {
		asked.Set("offset", strconv.Itoa(offset))
		most := rulesAtOnce
		if c.IsSet("limit") {
			most = min(most, left)
		}
		asked.Set("limit", strconv.Itoa(most))
		body, err := cl.Ask(c.Context, http.MethodGet, ruleListPath+"?"+asked.Encode(), nil)
		if err != nil {
			return configFault(err)
		}
		var page struct {
			Items []json.RawMessage
			Total *int
			Next  *int `json:"next_offset"`
		}
		if err := json.Unmarshal(body, &page); err != nil || page.Total == nil {
			return configFault(cl.Unreadable(http.MethodGet, ruleListPath, cmp.Or(err, errors.New("no total"))))
		}
		for _, item := range page.Items {
			if err := w.write(item); err != nil {
				return err
			}
		}
		total, left = *page.Total, left-len(page.Items)
		if page.Next == nil || *page.Next <= offset || c.IsSet("limit") && left <= 0 {
			break
		}
		offset = *page.Next
	}
	if err := w.end(); err != nil {
		return err
	}
	if out.talkTo {
		out.summary("%d of %s", w.written, plural.Of(total, "rule"))
	}
	return nil
}

// ruleWriter writes rules as rows of a table, else an object a line.
type ruleWriter struct {
	out     *console
	table   *terminal.Table // nil for objects
	written int
}

// Widths of cells on a terminal.
const (
	ruleTitleMost     = 60
	ruleLogsourceMost = 32
)

func newRuleWriter(out *console) *ruleWriter {
	w := &ruleWriter{out: out}
	if out.tabular() {
		w.table = out.table([]string{"LEVEL", "HITS", "LAST HIT", "TITLE", "LOGSOURCE", "FILE", "ID"})
		if out.terminal && out.format == formatTable {
			w.table.Fit(out.columns())
		}
	}
	return w
}

func (w *ruleWriter) write(item json.RawMessage) error {
	w.written++
	if w.table == nil {
		return w.out.writeObject(item)
	}
	var r listedRule
	if err := json.Unmarshal(item, &r); err != nil {
		return configFaultf("unreadable rule: %w", err)
	}
	level, _ := ast.ParseLevel(r.Level)
	last := ""
	if r.LastHit != nil {
		last = r.LastHit.UTC().Format(time.RFC3339)
	}
	parts := slices.DeleteFunc([]string{r.Logsource.Product, r.Logsource.Category, r.Logsource.Service}, func(s string) bool { return s == "" })
	row := []string{r.Level, strconv.FormatUint(r.Hits, 10), last, r.Title, strings.Join(parts, "/"), r.File, r.ID}
	if level == ast.LevelNone {
		row[0] = unknownCell
	}
	if w.out.format == formatTable {
		row[3], row[4] = terminal.Shorten(row[3], ruleTitleMost), terminal.Shorten(row[4], ruleLogsourceMost)
	}
	if err := w.table.Row(row, terminal.ColorOf(level)); err != nil {
		return fmt.Errorf("%w: %w", errWrite, err)
	}
	return nil
}

func (w *ruleWriter) end() error {
	if w.table == nil {
		return nil
	}
	return w.table.Flush()
}
