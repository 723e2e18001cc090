package binding

import (
	"slices"
	"strings"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/suggest"
	"github.com/sluicehq/sluice/internal/template"
)

// Template is a template about results.
type Template = template.Template[*graph.Result]

// Rules are the rules of templates about results of one kind. User is what has the
// template, as messages name it: "webhook", "enricher". A reference to the other kind's
// namespace is template.ErrWrongNamespace; the templates are rendered with results of
// their own kind only.
func Rules(kind graph.Kind, user string) template.Rules[*graph.Result] {
	return template.Rules[*graph.Result]{
		Kind: string(kind), User: user,
		Lookup: func(reference string) (template.Value[*graph.Result], error) { return lookup(kind, reference) },
	}
}

// Parse reads a template about results of one kind. Field and the error are those of
// template.Parse.
func Parse(text, field string, kind graph.Kind, user string) (*Template, error) {
	return template.Parse(text, field, Rules(kind, user))
}

type value = template.Value[*graph.Result]

// fixed are the references without a rest, by kind.
var fixed = map[graph.Kind]map[string]value{
	graph.KindDetection: {
		"rule.title": title{}, "rule.id": id{}, "rule.level": level{}, "tags": tags{},
		"event": eventAt{},
	},
	graph.KindCorrelation: {
		"rule.title": title{}, "rule.id": id{}, "rule.level": level{}, "tags": tags{},
		"type": correlationType{}, "timespan_secs": timespan{}, "aggregated_value": aggregate{}, "group_key": groupKey{},
	},
}

// open are the references that end in a rest, by kind.
var open = map[graph.Kind]map[string]func(rest string) value{
	graph.KindDetection: {
		"fields": func(rest string) value { return field{rest} },
		"event":  func(rest string) value { return eventAt{graph.NewPath(rest)} },
		"enrichments": func(rest string) value {
			return enrichment{rest, graph.NewPath(rest)}
		},
	},
	graph.KindCorrelation: {
		"group_key": func(rest string) value { return groupValue{rest} },
		"enrichments": func(rest string) value {
			return enrichment{rest, graph.NewPath(rest)}
		},
	},
}

func lookup(kind graph.Kind, reference string) (value, error) {
	namespace, tail, _ := strings.Cut(reference, ".")
	switch of := graph.Kind(namespace); {
	case fixed[of] == nil:
		return nil, template.ErrMalformed
	case of != kind:
		return nil, template.ErrWrongNamespace
	}
	if v, ok := fixed[kind][tail]; ok {
		return v, nil
	}
	first, rest, _ := strings.Cut(tail, ".")
	if with := open[kind][first]; with != nil && rest != "" {
		return with(rest), nil
	}
	return nil, suggest.Wrap(template.ErrUnknown, reference, known(kind))
}

// known lists the references of a kind that have no rest.
func known(kind graph.Kind) []string {
	var all []string
	for tail := range fixed[kind] {
		all = append(all, string(kind)+"."+tail)
	}
	slices.Sort(all)
	return all
}
