// Package unavailable lists the features that the documentation describes and
// this build does not have.
//
// Help, the start, validation, the API and the reference pages read the same
// list, so that they agree. A feature that is built loses its row.
package unavailable

import (
	"slices"
	"strings"
)

// Feature is a feature that this build does not have.
//
// Settings are named by flag ("--risk", in every section that has the flag) or
// by dotted key; a key stands for everything below it.
type Feature struct {
	Name     string   // as messages name it: "the risk layer"
	Sentence string   // what does not happen without it
	Refused  []string // settings that refuse the start: without the feature the outcome would differ from what was asked for
	Ignored  []string // settings that have no effect
	Routes   []string // patterns of the API that answer as if the feature were switched off
	Actors   []string // names of actors that never run
	Series   []Series // metrics that stay at zero
}

// All returns every feature that is unavailable. A setting belongs to the first
// feature that names it.
func All() []Feature { return features }

// Setting returns the feature that the setting with this dotted key and flag
// belongs to, and whether making the setting refuses the start. Either name may
// be empty.
func Setting(key, flag string) (f Feature, refused, found bool) {
	for _, f := range features {
		switch {
		case names(f.Refused, key, flag):
			return f, true, true
		case names(f.Ignored, key, flag):
			return f, false, true
		}
	}
	return Feature{}, false, false
}

func names(settings []string, key, flag string) bool {
	return slices.ContainsFunc(settings, func(s string) bool {
		return s == key || s == "--"+flag || strings.HasPrefix(key, s+".")
	})
}

// Actors returns the names of all actors that never run.
func Actors() []string {
	var all []string
	for _, f := range features {
		all = append(all, f.Actors...)
	}
	return all
}

var features = slices.Concat(leftTLS, leftOTLP, []Feature{
	{
		Name: "enrichment", Sentence: "Results are passed on without data from other systems.",
		Refused: []string{"--enrichers"},
		Series:  enrichSeries,
	},
	{
		Name: "the risk layer", Sentence: "Results carry no scores, and no risk incidents are emitted.",
		Refused: []string{"--risk"}, Routes: []string{"/api/v1/risk"},
		Series: riskSeries,
	},
	{
		Name: "the field observer", Sentence: "The fields of events are not counted.",
		Refused: []string{"--observe-fields-report"}, Ignored: []string{"--observe-fields", "--observe-fields-max-keys"},
		Routes: []string{"/api/v1/fields", "/api/v1/fields/unknown", "/api/v1/fields/missing", "/api/v1/fields/observer"},
		Series: fieldSeries,
	},
	{
		Name: "schema routing", Sentence: "All rules see all events, whatever their schema.",
		Refused: []string{"--schema-routing", "--on-unknown"},
	},
	{
		Name: "schema recognition", Sentence: "The schemas of events are neither counted nor proposed.",
		Ignored: []string{"daemon.schema", "eval.schema"},
		Routes:  []string{"/api/v1/schemas", "/api/v1/schemas/suggestions"},
		Series:  schemaSeries,
	},
	{
		Name: "tap sessions", Sentence: "Events cannot be watched.",
		Ignored: []string{"daemon.tap"}, Routes: []string{"/api/v1/tap"},
		Series: tapSeries,
	},
	{
		Name: "tail sessions", Sentence: "Results cannot be watched over the API.",
		Ignored: []string{"daemon.tail"}, Routes: []string{"/api/v1/detections/stream"},
		Series: tailSeries,
	},
	{
		Name: "dispositions", Sentence: "Verdicts of analysts are not taken in.",
		Ignored: []string{"daemon.dispositions"}, Routes: []string{"/api/v1/dispositions"}, Actors: []string{"dispositions"},
		Series: dispositionSeries,
	},
	{
		Name: "capture", Sentence: "The events behind incidents are not kept.",
		Ignored: []string{"daemon.capture"}, Actors: []string{"capture"},
		Series: captureSeries,
	},
	{Name: "the command rule backtest", Sentence: "A corpus cannot be replayed against expectations.", Ignored: []string{"backtest"}},
	{Name: "the command rule coverage", Sentence: "Rules are not compared with ATT&CK.", Ignored: []string{"coverage"}},
	{Name: "the command rule scorecard", Sentence: "Rules get no verdict to keep, tune or retire them.", Ignored: []string{"scorecard"}},
	{Name: "the command rule hygiene", Sentence: "Candidates for retirement are not listed.", Ignored: []string{"hygiene"}},
	{Name: "the command rule doc", Sentence: "The documentation of rules is not checked.", Ignored: []string{"doc"}},
})
