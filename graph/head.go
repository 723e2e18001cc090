package graph

import "github.com/sluicehq/sluice/sigma/ast"

// Title is the title of the result's rule.
func (r *Result) Title() string {
	if r.Detection != nil {
		return r.Detection.Rule.Title
	}
	return r.Correlation.Rule.Title
}

// RuleID is the id of the result's rule, empty if it has none.
func (r *Result) RuleID() string {
	if r.Detection != nil {
		return r.Detection.Rule.ID
	}
	return r.Correlation.Rule.ID
}

// RuleKey is what a result's rule is told apart by: its id, else its title.
func (r *Result) RuleKey() string {
	if id := r.RuleID(); id != "" {
		return id
	}
	return r.Title()
}

// Level is the level of the result's rule, ast.LevelNone if it states none.
func (r *Result) Level() ast.Level {
	if r.Detection != nil {
		return r.Detection.Rule.Level
	}
	return r.Correlation.Rule.Level
}

// Tags are the tags of the result's rule. They are shared and must not be changed.
func (r *Result) Tags() []string {
	if r.Detection != nil {
		return r.Detection.Rule.Tags
	}
	return r.Correlation.Rule.Tags
}
