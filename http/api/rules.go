package api

import (
	"net/http"
	"strings"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/http/openapi"
	"github.com/sluicehq/sluice/http/reply"
	"github.com/sluicehq/sluice/sigma/ast"
)

var ruleRoutes = []route{{pattern: "/api/v1/rules", endpoints: get("rules:read", (*Resources).getRules, showRules)}}

var showRules = operation{
	id: "getRules", summary: "Tell what the serving rules were made of",
	answers: []openapi.Answer{replies(http.StatusOK, describedRules{}, "The rules that serve, and the documents that were left out.")},
}

// describedRules is what the answer of getRules looks like.
type describedRules struct {
	DetectionRules   int                `json:"detection_rules" min:"0"`
	CorrelationRules int                `json:"correlation_rules" min:"0"`
	RulesPath        string             `json:"rules_path" doc:"As configured; several paths are joined with a comma and a blank"`
	Rejected         []rejectedDocument `json:"rejected"`
	Excluded         int                `json:"excluded" min:"0" doc:"Documents that --min-level and --exclude-rule left out"`
}

// Rules tells what the serving rule set was made of.
type Rules interface {
	Rules() RuleReport
}

// RuleReport is what GET /api/v1/rules shows.
type RuleReport struct {
	Counts   []actors.Member    // of what is loaded, by kind
	Paths    []string           // as configured
	Rejected []RejectedDocument // in load order
	Excluded int
}

// RejectedDocument is a document of the serving set that was left out, with
// all its problems.
type RejectedDocument struct {
	File     string
	Document int // from 1; 0 is the file as a whole
	Title    string
	ID       string
	Problems []ast.Problem
}

type rejectedDocument struct {
	File     string    `json:"file"`
	Document int       `json:"document" min:"0" doc:"Its number in the file; 0 is the file as a whole"`
	Title    string    `json:"title,omitempty"`
	ID       string    `json:"id,omitempty"`
	Problems []problem `json:"problems"`
}

// problem leaves out what its document already says.
type problem struct {
	Line   int       `json:"line,omitempty"`
	Stage  ast.Stage `json:"stage"`
	Reason string    `json:"reason"`
}

func (res *Resources) getRules(w http.ResponseWriter, _ *http.Request) {
	r := res.Rules.Rules()
	rejected := make([]rejectedDocument, 0, len(r.Rejected))
	for _, d := range r.Rejected {
		problems := make([]problem, 0, len(d.Problems))
		for _, p := range d.Problems {
			problems = append(problems, problem{p.Line, p.Stage, p.Reason})
		}
		rejected = append(rejected, rejectedDocument{d.File, d.Document, d.Title, d.ID, problems})
	}
	reply.JSON(w, http.StatusOK, append(members(r.Counts),
		actors.Member{Name: "rules_path", Value: strings.Join(r.Paths, ", ")},
		actors.Member{Name: "rejected", Value: rejected}, actors.Member{Name: "excluded", Value: r.Excluded}))
}
