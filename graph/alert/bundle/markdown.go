package bundle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/sigma/event"
)

// Markdown is the document for people.
func (b *Bundle) Markdown() []byte {
	p := new(page)
	in := &b.about
	p.block("# Incident " + plain(in.ID))
	p.item("Generated: " + b.GeneratedAt)
	p.item("State: " + plain(in.State))
	if in.MaxLevel != "" {
		p.item("Highest severity: " + plain(in.MaxLevel))
	}
	p.item("Window: " + instant(in.FirstSeen) + " to " + instant(in.LastSeen))
	p.item(fmt.Sprintf("Contributing results: %d", in.ResultCount))
	p.item("Retained samples: " + plain(in.SampleMode))
	p.end()
	p.values("## Grouping", in.GroupBy, func(v event.Value) string { return plain(shown(v)) })
	p.values("## Entities", in.Entities, func(v event.Value) string {
		var all []string
		for one := range v.Elements {
			all = append(all, shown(one))
		}
		return joined(all)
	})
	p.block("## Contributing rules")
	for i := range b.Rules {
		p.rule(&b.Rules[i])
	}
	p.block("## Risk")
	switch {
	case !b.Sources.Risk:
		p.block("No risk is accumulated.")
	case len(b.Risk) == 0:
		p.block("No entity with risk overlaps this incident.")
	}
	for i := range b.Risk {
		p.entity(&b.Risk[i])
	}
	return []byte(p.String())
}

// page writes blocks, each with an empty line behind it.
type page struct{ strings.Builder }

// block writes text as a block.
func (p *page) block(text string) { p.WriteString(text + "\n\n") }

// item writes a line of a list, which end ends.
func (p *page) item(text string) { p.WriteString("- " + text + "\n") }

func (p *page) end() { p.WriteByte('\n') }

// values writes the members of an object below a heading, nothing when there are none.
func (p *page) values(heading string, object []byte, text func(event.Value) string) {
	begun := false
	for selector, value := range members(object) {
		if !begun {
			p.block(heading)
			begun = true
		}
		p.item(code(selector) + ": " + text(value))
	}
	if begun {
		p.end()
	}
}

func (p *page) rule(r *Rule) {
	p.block(fmt.Sprintf("### %s (%s)", code(r.Key), plural.Of(r.Count, "result")))
	switch r.Resolution {
	case Missing:
		p.block("No loaded rule has this key.")
	case Ambiguous:
		p.block(fmt.Sprintf("%d loaded rules have this key.", len(r.Documents)))
	}
	for i := range r.Documents {
		p.document(&r.Documents[i])
	}
}

func (p *page) document(d *Document) {
	p.block("**" + strings.TrimSpace(plain(d.Identity.Title)) + "**")
	if d.Level != "" {
		p.item("Level: " + plain(d.Level))
	}
	if len(d.Tags) > 0 {
		p.item("Tags: " + joined(d.Tags))
	}
	if d.Level != "" || len(d.Tags) > 0 {
		p.end()
	}
	none := true
	for _, s := range d.ADS.Sections {
		if !s.Present {
			continue
		}
		none = false
		name := strings.ReplaceAll(s.ID, "_", " ")
		p.block("*" + strings.ToUpper(name[:1]) + name[1:] + "*")
		switch content := s.Content.(type) {
		case string:
			p.block(lines(content))
		case []string:
			for _, one := range content {
				p.item(item(one))
			}
			p.end()
		}
	}
	if none {
		p.block("The rule says nothing for analysts.")
	}
}

func (p *page) entity(o *Overlap) {
	p.block("### " + plain(o.Type) + ": " + plain(o.Value))
	p.item("Score: " + strconv.FormatInt(o.Score, 10))
	p.item("Distinct tactics: " + strconv.Itoa(o.TacticCount))
	p.item("Contributing sources: " + strconv.Itoa(o.SourceCount))
	p.item("Window: " + instant(o.WindowStart) + " to " + instant(o.WindowEnd))
	why := "a result of the incident names the entity"
	if o.MatchedOn == GroupKey {
		why = "the incident is grouped by the entity"
	}
	p.item("Matched on: " + why)
	p.end()
}

func joined(texts []string) string {
	all := make([]string, len(texts))
	for i, one := range texts {
		all[i] = plain(one)
	}
	return strings.Join(all, ", ")
}
