package inputs

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/actors/parse"
	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/internal/redact"
	"github.com/sluicehq/sluice/internal/suggest"
)

// MaxInputs is how many inputs a daemon may have.
const MaxInputs = 64

// Spec is an input as the operator wrote it: scheme and target, and parameters behind a
// question mark.
type Spec struct {
	Text    string
	Kind    Kind
	Scheme  string
	Target  string            // what follows the scheme and "://"; empty for a bare kind
	Format  string            // "" when the spec names none
	Options map[string]string // the parameters of its kind
	Number  int               // among the inputs of the daemon, from 0
}

// String is the spec as log lines and errors show it.
func (s Spec) String() string { return redact.Text(s.Text) }

// Parse reads the specs of a daemon's inputs, in which kinds beside Kinds may occur.
// Each fault is told with the number of its spec, and leaves that spec out.
func Parse(texts []string, more []Kind, fault func(number int, err error)) []Spec {
	kinds := append(Kinds(), more...)
	var specs []Spec
	for i, text := range texts {
		s, err := parseOne(text, kinds)
		s.Number = i
		switch same := func(o Spec) bool { return o.Scheme == s.Scheme && o.Target == s.Target }; {
		case err != nil:
			fault(i, err)
		case i >= MaxInputs:
			fault(i, fmt.Errorf("a daemon has at most %d inputs", MaxInputs))
		case slices.ContainsFunc(specs, same):
			fault(i, fmt.Errorf("input '%s' is named twice", s))
		default:
			specs = append(specs, s)
		}
	}
	return specs
}

func parseOne(text string, kinds []Kind) (Spec, error) {
	base, query, parameters := strings.Cut(text, "?")
	scheme, target, hasScheme := strings.Cut(base, "://")
	s := Spec{Text: text, Scheme: scheme, Target: target}
	i := slices.IndexFunc(kinds, func(k Kind) bool { return slices.Contains(k.Schemes, scheme) })
	var here, schemes []string
	for _, k := range kinds {
		if k.Open != nil {
			here, schemes = append(here, k.Usage), append(schemes, k.Schemes...)
		}
	}
	switch {
	case i >= 0 && kinds[i].Bare && target != "":
		return s, fmt.Errorf("input '%s': %s takes no target, write %s", redact.Text(text), scheme, kinds[i].Usage)
	case i >= 0 && !kinds[i].Bare && !hasScheme:
		return s, fmt.Errorf("input '%s' has no target, write %s", redact.Text(text), kinds[i].Usage)
	case i < 0 && strings.HasPrefix(scheme, "otlp"):
		return s, fmt.Errorf("%q %s", redact.Text(text), otlpInstead)
	case i < 0:
		return s, suggest.Wrap(fmt.Errorf("%q is no input (%s)", redact.Text(text), strings.Join(here, ", ")), scheme, schemes)
	}
	s.Kind = kinds[i]
	if s.Kind.Open == nil {
		return s, fmt.Errorf("%q is left out of this build, which was made with the tag %s (%s)", redact.Text(text), s.Kind.LeftOutBy, strings.Join(here, ", "))
	}
	if parameters {
		if err := s.parameters(query); err != nil {
			return s, fmt.Errorf("input '%s': %w", s, err)
		}
	}
	if s.Kind.Check != nil {
		if err := s.Kind.Check(s); err != nil {
			return s, fmt.Errorf("input '%s': %w", s, err)
		}
	}
	return s, nil
}

func (s *Spec) parameters(query string) error {
	seen := make(map[string]bool)
	for parameter := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(parameter, "=")
		if seen[key] {
			return fmt.Errorf("%s= may be specified only once", key)
		}
		seen[key] = true
		switch {
		case key == "format":
			if _, err := format.Parse(value); err != nil {
				return err
			}
			s.Format = value
		case slices.Contains(s.Kind.Parameters, key):
			if s.Options == nil {
				s.Options = make(map[string]string)
			}
			s.Options[key] = value
		default:
			known := append([]string{"format"}, s.Kind.Parameters...)
			fault := fmt.Errorf("unknown parameter '%s', not one of %s", key, strings.Join(known, ", "))
			if instead := s.Kind.Instead[key]; instead != "" {
				fault = fmt.Errorf("%w; %s", fault, instead)
			}
			return suggest.Wrap(fault, key, known)
		}
	}
	return nil
}

// format is the name of the form of the input's lines.
func (s Spec) format(cfg *config.Daemon) string {
	switch {
	case s.Format != "":
		return s.Format
	case s.Kind.Format != "":
		return s.Kind.Format
	}
	return cfg.Input.Format
}

// Logs is how log lines name the log records that come over OTLP.
const Logs = "otlp"

// ParseInputs are the inputs as parse knows them, in the order of specs. Behind them stand
// the log records, which come beside all inputs.
func ParseInputs(specs []Spec, cfg *config.Daemon) ([]parse.Input, error) {
	events, err := cfg.Input.Compile()
	if err != nil {
		return nil, err
	}
	var all []parse.Input
	for _, s := range specs {
		d, err := format.NewDecoder(s.format(cfg), cfg.Input.SyslogTZ, cfg.Input.SyslogStripBOM)
		if err != nil {
			return nil, err
		}
		d.Filter = events
		all = append(all, parse.Input{Source: s.String(), Decoder: d, Own: s.Format != "" || s.Kind.Format != ""})
	}
	return append(all, parse.Input{Source: Logs, Decoder: &format.Decoder{Format: format.JSON, Filter: events}}), nil
}
