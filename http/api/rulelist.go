package api

import (
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/graph/catalog"
	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
	"github.com/sluicehq/sluice/sigma/ast"
)

var ruleListRoutes = []route{{pattern: "/api/v1/rules/list", endpoints: get("rules:read", (*Resources).getRuleList, listRules)}}

var listRules = operation{
	id: "listRules", summary: "List the rules that serve, with their hits",
	query: []openapi.Parameter{
		param("level", "Only rules of this level; `unknown` are those that state none.", word(nil, append(ast.LevelNames(), noLevel)...)),
		param("product", "Only rules for this product; empty for those that name none.", text()),
		param("category", "Only rules for this category; empty for those that name none.", text()),
		param("service", "Only rules for this service; empty for those that name none.", text()),
		param("q", "Only rules whose title or id contains this text, in any case.", text()),
		param("hit", "Only rules that have matched, or only those that have not.", &openapi.Schema{Type: "boolean"}),
		param("sort", "The order of the rules.", word(nil, orderNames()...)),
		param("limit", fmt.Sprintf("How many rules to list; more than %d are as many.", ruleListMost), number(ruleListDefault, 1, math.MaxInt32)),
		param("offset", "How many rules to leave out.", number(0, 0, math.MaxInt32)),
	},
	answers: []openapi.Answer{replies(http.StatusOK, RuleList{}, "A page of the rules that pass the filters.")},
}

// RuleCatalog lists the rules of the serving set.
type RuleCatalog interface {
	// Catalog is that of the set which serves at the moment.
	Catalog() *catalog.Catalog
}

// The bounds of a page of rules.
const (
	ruleListDefault = 100
	ruleListMost    = 1000
)

// noLevel is how a filter names rules that state no level, as metrics do.
const noLevel = "unknown"

// RuleList is a page of GET /api/v1/rules/list.
type RuleList struct {
	Items  []ListedRule `json:"items"`
	Total  int          `json:"total"` // of the rules that pass the filters
	Offset int          `json:"offset"`
	Limit  int          `json:"limit"` // in effect
	// NextOffset is the offset of the next page; null on the last one.
	NextOffset *int `json:"next_offset"`
}

// ListedRule is a rule that serves.
type ListedRule struct {
	ID    string `json:"id,omitempty"` // absent for a rule without one
	Title string `json:"title"`
	Kind  string `json:"kind"` // detection or correlation
	// Level is absent for a rule that states none.
	Level string `json:"level,omitempty"`
	// File is the path of the file, as log lines name it.
	File     string `json:"file"`
	Document int    `json:"document"` // its number in the file, from 1
	// Logsource is what the rule is evaluated for, behind pipelines. It has the parts
	// that the rule names.
	Logsource *RuleLogsource `json:"logsource,omitempty"`
	// Hits counts the events that the rule has matched, or what a correlation has fired,
	// since the daemon began.
	Hits uint64 `json:"hits"`
	// LastHit is when the last of them came, in UTC; absent without one.
	LastHit *time.Time `json:"last_hit,omitempty"`
}

// RuleLogsource is the log source of a rule.
type RuleLogsource struct {
	Product  string `json:"product,omitempty"`
	Category string `json:"category,omitempty"`
	Service  string `json:"service,omitempty"`
}

func (res *Resources) getRuleList(w http.ResponseWriter, r *http.Request) {
	q, err := ruleQuery(r)
	if err != nil {
		writeError(w, http.StatusBadRequest, err.Error())
		return
	}
	page, total := res.Catalog.Catalog().Page(q)
	list := RuleList{Items: make([]ListedRule, 0, len(page)), Total: total, Offset: q.Offset, Limit: q.Limit}
	for i := range page {
		list.Items = append(list.Items, listedRule(&page[i]))
	}
	if next := q.Offset + len(page); len(page) > 0 && next < total {
		list.NextOffset = &next
	}
	reply.JSON(w, http.StatusOK, list)
}

func listedRule(e *catalog.Listed) ListedRule {
	out := ListedRule{
		ID: e.ID, Title: e.Title, Kind: string(e.Kind), Level: e.Level.String(), File: e.File, Document: e.Document, Hits: e.Hits,
	}
	if e.Logsource != (catalog.Logsource{}) {
		out.Logsource = &RuleLogsource{e.Logsource.Product, e.Logsource.Category, e.Logsource.Service}
	}
	if !e.Last.IsZero() {
		out.LastHit = &e.Last
	}
	return out
}

// ruleQuery reads the parameters.
func ruleQuery(r *http.Request) (catalog.Query, error) {
	q := catalog.Query{Limit: ruleListDefault}
	given, err := query(r, "level", "product", "category", "service", "q", "hit", "sort", "limit", "offset")
	if err != nil {
		return q, err
	}
	for name, part := range map[string]**string{"product": &q.Product, "category": &q.Category, "service": &q.Service} {
		if text, ok := given[name]; ok {
			*part = &text
		}
	}
	q.Text = given["q"]
	for _, read := range []struct {
		name string
		into func(text string) (want string)
	}{
		{"level", func(text string) string {
			level, err := ast.ParseLevel(text)
			if q.Level = &level; err != nil && text != noLevel {
				return "one of " + strings.Join(append(ast.LevelNames(), noLevel), ", ")
			}
			return ""
		}},
		{"hit", func(text string) string {
			hit := text == "true"
			if q.Hit = &hit; !hit && text != "false" {
				return "true or false"
			}
			return ""
		}},
		{"sort", func(text string) string {
			if q.Order = catalog.Order(text); !slices.Contains(catalog.Orders[:], q.Order) {
				return fmt.Sprintf("one of %s", strings.Join(orderNames(), ", "))
			}
			return ""
		}},
		{"limit", func(text string) string {
			n, err := strconv.ParseUint(text, 10, 31)
			if q.Limit = int(min(n, ruleListMost)); err != nil || n == 0 {
				return "a positive integer"
			}
			return ""
		}},
		{"offset", func(text string) string {
			n, err := strconv.ParseUint(text, 10, 31)
			if q.Offset = int(n); err != nil {
				return "a non-negative integer"
			}
			return ""
		}},
	} {
		text, ok := given[read.name]
		if !ok {
			continue
		}
		if want := read.into(text); want != "" {
			return q, fmt.Errorf("query parameter '%s' must be %s", read.name, want)
		}
	}
	return q, nil
}

func orderNames() []string {
	names := make([]string, 0, len(catalog.Orders))
	for _, o := range catalog.Orders {
		names = append(names, string(o))
	}
	return names
}
