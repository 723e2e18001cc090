package bundle

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/graph/catalog"
)

// Resolution is how a key of an incident was found among the rules.
type Resolution string

// The resolutions.
const (
	Missing   Resolution = "missing"   // no rule has the key
	Unique    Resolution = "unique"    // one has
	Ambiguous Resolution = "ambiguous" // several have, which tell different things
)

// Resolutions are all of them.
var Resolutions = [...]Resolution{Missing, Unique, Ambiguous}

// Rule is a key of an incident and the rules that have it.
type Rule struct {
	Key        string     `json:"key" doc:"Id of the rule, else its title"`
	Count      int64      `json:"count" doc:"Results that it contributed"`
	Resolution Resolution `json:"resolution"`
	Documents  []Document `json:"documents" doc:"The rules that serve now, in the order in which they were loaded"`
}

// Document is a rule.
type Document struct {
	Identity Identity `json:"identity"`
	Level    string   `json:"level,omitempty"`
	Tags     []string `json:"tags,omitempty"`
	ADS      ADS      `json:"ads"`
}

// Identity says which rule it is.
type Identity struct {
	Kind  catalog.Kind `json:"kind"`
	ID    string       `json:"id,omitempty"`
	Title string       `json:"title"`
}

// ADS is what the author of a rule wrote for analysts: an alerting and detection strategy.
type ADS struct {
	Sections []Section `json:"sections" doc:"All nine, in this order"`
}

// Section is a part of it.
type Section struct {
	ID       string `json:"id"`
	Required bool   `json:"required"`
	Present  bool   `json:"present" doc:"Whether content is there"`
	Carrier  string `json:"carrier" doc:"What of the rule holds it"`
	Content  any    `json:"content,omitempty" doc:"A text or a list of texts"`
}

// sections are those of every rule.
var sections = []struct {
	id, carrier string
	of          func(*catalog.Texts) any // nil for custom attributes
}{
	{"goal", "description", func(t *catalog.Texts) any { return present(strings.TrimSpace(t.Description)) }},
	{"categorization", "tags", func(t *catalog.Texts) any { return list(techniques(t.Tags)) }},
	{"strategy", "sluice.ads.strategy", nil},
	{"technical_context", "sluice.ads.technical_context", nil},
	{"blind_spots", "sluice.ads.blind_spots", nil},
	{"false_positives", "falsepositives", func(t *catalog.Texts) any { return list(t.FalsePositives) }},
	{"validation", "sluice.ads.validation", nil},
	{"priority", "sluice.ads.priority", nil},
	{"response", "sluice.ads.response", nil},
}

func resolved(key string, count int64, found []catalog.Document) Rule {
	r := Rule{Key: key, Count: count, Resolution: Missing, Documents: make([]Document, 0, len(found))}
	switch len(found) {
	case 0:
	case 1:
		r.Resolution = Unique
	default:
		r.Resolution = Ambiguous
	}
	for i := range found {
		r.Documents = append(r.Documents, document(&found[i]))
	}
	return r
}

func document(d *catalog.Document) Document {
	out := Document{
		Identity: Identity{d.Kind, d.ID, d.Title}, Level: d.Level.String(), Tags: d.Tags,
		ADS: ADS{make([]Section, 0, len(sections))},
	}
	for _, s := range sections {
		part := Section{ID: s.id, Required: true, Carrier: s.carrier}
		if s.of != nil {
			part.Content = s.of(&d.Texts)
		} else {
			part.Content = attribute(d.Attributes[s.carrier])
		}
		part.Present = part.Content != nil
		out.ADS.Sections = append(out.ADS.Sections, part)
	}
	return out
}

// present is a text, or nil for none.
func present(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// list is the texts that are not blank, or nil for none.
func list(all []string) any {
	var texts []string
	for _, one := range all {
		if one = strings.TrimSpace(one); one != "" {
			texts = append(texts, one)
		}
	}
	if texts == nil {
		return nil
	}
	return texts
}

// techniques are the tags of ATT&CK.
func techniques(tags []string) (all []string) {
	for _, tag := range tags {
		if strings.HasPrefix(tag, "attack.") {
			all = append(all, tag)
		}
	}
	return all
}

// attribute is the content of a custom attribute, or nil for none.
func attribute(value any) any {
	if all, ok := value.([]any); ok {
		var texts []string
		for _, one := range all {
			texts = append(texts, scalar(one))
		}
		return list(texts)
	}
	return present(strings.TrimSpace(scalar(value)))
}

// scalar is the text of a single value, empty of anything else.
func scalar(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case json.Number:
		return v.String()
	case bool:
		return strconv.FormatBool(v)
	}
	return ""
}
