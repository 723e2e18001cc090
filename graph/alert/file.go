package alert

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/sluicehq/sluice/graph/alert/dedup"
	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/graph/alert/inhibit"
	"github.com/sluicehq/sluice/graph/alert/silence"
	"github.com/sluicehq/sluice/graph/scope"
	"github.com/sluicehq/sluice/graph/selector"
	"github.com/sluicehq/sluice/internal/document"
	"github.com/sluicehq/sluice/internal/strict"
	"github.com/sluicehq/sluice/internal/suggest"
)

// MaxSilences is how many silences may be made while the pipeline runs, unless its file says
// otherwise.
const MaxSilences = 1000

// File is what the file of an alert pipeline says. It never changes.
type File struct {
	Strip       bool // events are taken out of the results that go on
	Scope       *scope.Scope
	Inhibit     []inhibit.Rule
	Silences    []*silence.Silence // in the order of the file
	MaxSilences int
	Dedup       *dedup.Config    // nil without the section
	Group       *incident.Config // nil without the section
}

// file is the file as it is written.
type file struct {
	Strip       bool             `yaml:"strip_event"`
	Scope       scope.Config     `yaml:"scope"`
	Inhibit     []*document.Node `yaml:"inhibit_rules"`
	Silences    []*document.Node `yaml:"silences"`
	MaxSilences int              `yaml:"max_silences"`
	Dedup       *dedupSection    `yaml:"dedup"`
	Group       *groupSection    `yaml:"group"`
}

type dedupSection struct {
	Fingerprint []string `yaml:"fingerprint"`
	Repeat      span     `yaml:"repeat_interval"`
	Resolve     *span    `yaml:"resolve_timeout"`
	MaxActive   *int     `yaml:"max_active_alerts"`
}

type groupSection struct {
	Mode       string   `yaml:"mode"`
	By         []string `yaml:"by"`
	Entities   []string `yaml:"entities"`
	Wait       *span    `yaml:"group_wait"`
	Interval   *span    `yaml:"group_interval"`
	Repeat     span     `yaml:"repeat_interval"`
	Resolve    *span    `yaml:"resolve_timeout"`
	Include    string   `yaml:"include"`
	Caps       caps     `yaml:"caps"`
	StopValues []string `yaml:"stop_values"`
	Subject    string   `yaml:"nats_subject"`
}

type caps struct {
	Open        *int `yaml:"max_open_incidents"`
	Entities    *int `yaml:"max_entities_per_incident"`
	Results     *int `yaml:"max_results_per_incident"`
	Cardinality *int `yaml:"max_value_cardinality"`
}

// Parse reads the file of an alert pipeline. Every fault is reported, with its line; with a
// fault there is no File. Warnings tell of settings that are taken otherwise than they are
// written, or that work against each other.
func Parse(data []byte) (f *File, warnings, faults []strict.Fault) {
	root, err := strict.Read(data)
	if err != nil {
		var within strict.Fault
		errors.As(err, &within)
		return nil, nil, []strict.Fault{{Line: within.Line, Err: fmt.Errorf("the file cannot be read: %w", err)}}
	}
	if root.Kind == document.Null {
		return nil, nil, []strict.Fault{{Err: errors.New("the file is empty ({} is a pipeline that only holds silences)")}}
	}
	in := file{MaxSilences: MaxSilences}
	lines, found := strict.Decode(root, &in)
	b := builder{lines: lines, refused: make(map[string]bool)}
	for _, fault := range found {
		b.found("", fault)
	}
	f = b.build(&in)
	if len(b.faults) > 0 {
		return nil, b.warnings, b.faults
	}
	return f, b.warnings, nil
}

// builder turns what is written into what is meant.
type builder struct {
	lines            strict.Lines
	refused          map[string]bool // settings whose values could not be read: what stands in their place says nothing
	warnings, faults []strict.Fault
}

// found takes a fault over that decoding found in an element of a list, or in the file when
// the element is empty.
func (b *builder) found(element string, fault strict.Fault) {
	key := strings.Trim(element+"."+fault.Key, ".")
	b.refused[key] = fault.Key != ""
	var unknown *strict.UnknownKey
	switch {
	case errors.As(fault.Err, &unknown):
		name := strings.Trim(element+"."+unknown.Key, ".")
		last := unknown.Key[strings.LastIndexByte(unknown.Key, '.')+1:]
		fault.Err = suggest.Wrap(fmt.Errorf("unknown field '%s' (valid here: %s)", name, strings.Join(unknown.Known, ", ")), last, unknown.Known)
	case element != "":
		fault.Err = fmt.Errorf("%s: %w", element, fault.Err)
	}
	b.faults = append(b.faults, strict.Fault{Line: fault.Line, Key: key, Err: fault.Err})
}

func (b *builder) fail(key string, err error) {
	if !b.refused[key] {
		b.faults = append(b.faults, strict.Fault{Line: b.lines.Of(key), Key: key, Err: err})
	}
}

func (b *builder) warn(key, format string, args ...any) {
	b.warnings = append(b.warnings, strict.Fault{Line: b.lines.Of(key), Key: key, Err: fmt.Errorf(key+": "+format, args...)})
}

func (b *builder) build(in *file) *File {
	f := &File{Strip: in.Strip, MaxSilences: b.count("max_silences", &in.MaxSilences, 0)}
	var err error
	if f.Scope, err = scope.Compile(in.Scope); err != nil {
		b.fail("scope", err)
	}
	f.Inhibit = b.rules(in.Inhibit)
	f.Silences = b.silences(in.Silences)
	if in.Dedup != nil {
		f.Dedup = b.dedup(in.Dedup)
	}
	if in.Group != nil {
		f.Group = b.group(in.Group)
	}
	return f
}

func (b *builder) dedup(in *dedupSection) *dedup.Config {
	return &dedup.Config{
		Fingerprint: b.selectors("dedup.fingerprint", in.Fingerprint, true),
		Repeat:      b.span("dedup.repeat_interval", &in.Repeat, 0),
		Resolve:     b.span("dedup.resolve_timeout", in.Resolve, 60*60),
		MaxActive:   b.count("dedup.max_active_alerts", in.MaxActive, 100_000),
	}
}

func (b *builder) group(in *groupSection) *incident.Config {
	c := &incident.Config{
		Mode: incident.Mode(cmp.Or(in.Mode, string(incident.GroupBy))), Include: incident.Include(cmp.Or(in.Include, string(incident.Refs))),
		Wait:           b.span("group.group_wait", in.Wait, 30),
		Interval:       b.span("group.group_interval", in.Interval, 5*60),
		Repeat:         b.span("group.repeat_interval", &in.Repeat, 0),
		Resolve:        b.span("group.resolve_timeout", in.Resolve, 60*60),
		MaxOpen:        b.count("group.caps.max_open_incidents", in.Caps.Open, 10_000),
		MaxEntities:    b.count("group.caps.max_entities_per_incident", in.Caps.Entities, 1000),
		MaxResults:     b.count("group.caps.max_results_per_incident", in.Caps.Results, 1000),
		MaxCardinality: b.count("group.caps.max_value_cardinality", in.Caps.Cardinality, 10_000),
		StopValues:     in.StopValues, NATSSubject: in.Subject,
	}
	if c.Mode != incident.GroupBy && c.Mode != incident.EntityGraph {
		b.fail("group.mode", fmt.Errorf("group.mode: unknown mode '%s' (%s, %s)", c.Mode, incident.GroupBy, incident.EntityGraph))
	}
	if c.Include != incident.Refs && c.Include != incident.Results {
		b.fail("group.include", fmt.Errorf("group.include: '%s' is neither %s nor %s", c.Include, incident.Refs, incident.Results))
	}
	c.By = b.selectors("group.by", in.By, c.Mode == incident.GroupBy)
	c.Entities = b.selectors("group.entities", in.Entities, c.Mode == incident.EntityGraph)
	if err := checkSubject(in.Subject); err != nil {
		b.fail("group.nats_subject", fmt.Errorf("group.nats_subject: %w", err))
	}
	if c.Repeat > 0 && c.Repeat < c.Interval {
		b.warn("group.repeat_interval", "repeats every %ds are more frequent than news, which wait for a group_interval of %ds", c.Repeat, c.Interval)
	}
	if c.Wait > c.Resolve {
		b.warn("group.group_wait", "%ds is longer than the resolve_timeout of %ds: an incident that stays quiet is reported and resolved at once", c.Wait, c.Resolve)
	}
	return c
}

// checkSubject reports what is wrong with a subject that messages are published to.
func checkSubject(subject string) error {
	if subject == "" {
		return nil
	}
	if strings.ContainsAny(subject, " \t\r\n\x00") {
		return fmt.Errorf("the subject '%s' has white space in it", subject)
	}
	for token := range strings.SplitSeq(subject, ".") {
		switch token {
		case "":
			return fmt.Errorf("the subject '%s' has an empty part", subject)
		case "*", ">":
			return fmt.Errorf("the subject '%s' has a wildcard: name the one subject to publish to", subject)
		}
	}
	return nil
}

// selectors reads a list of selectors.
func (b *builder) selectors(key string, texts []string, needed bool) []selector.Selector {
	if needed && len(texts) == 0 {
		b.fail(key, fmt.Errorf("%s: at least one selector is needed (rule, level, match.<field>, ...)", key))
	}
	all, err := selectors(texts)
	if err != nil {
		b.fail(key, fmt.Errorf("%s: %w", key, err))
	}
	return all
}

func selectors(texts []string) ([]selector.Selector, error) {
	var all []selector.Selector
	var faults []error
	for _, text := range texts {
		s, err := selector.Parse(text)
		if err != nil {
			faults = append(faults, err)
			continue
		}
		all = append(all, s)
	}
	return all, errors.Join(faults...)
}

// count is a number that cannot be negative.
func (b *builder) count(key string, n *int, otherwise int) int {
	if n == nil {
		return otherwise
	}
	if *n < 0 {
		b.fail(key, fmt.Errorf("%s: %d is below 0", key, *n))
	}
	return *n
}
