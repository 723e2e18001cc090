package sink

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sluicehq/sluice/actors/sink/file"
	"github.com/sluicehq/sluice/internal/redact"
	"github.com/sluicehq/sluice/internal/suggest"
)

// Format is how findings are written.
type Format string

// The formats.
const (
	FormatNative Format = "ndjson"
	FormatOCSF   Format = "ocsf"
)

// OnFull says what becomes of an item when the queue of its sink is full.
type OnFull string

// The policies for a full queue.
const (
	Block OnFull = "block"
	Drop  OnFull = "drop"
)

// Role says what a spec is used for, which decides about its parameters.
type Role uint8

// The roles of a sink.
const (
	RoleFindings Role = iota // --output
	RoleDLQ                  // --dlq
	RoleAudit                // daemon.api.audit.sink
)

// Spec is a sink as the operator wrote it: base, and parameters behind a
// question mark.
type Spec struct {
	Text   string
	Kind   Kind
	Scheme string // without "://"
	Target string // what follows the scheme: of a file its path; empty for stdout
	OnFull OnFull
	Format Format
	// Options are the parameters that only this kind takes.
	Options map[string]string
}

// ParseSpec reads a sink spec for role. Warnings are about parameters that are
// ignored; an error means that the sink cannot be built.
func ParseSpec(text string, role Role) (Spec, []string, error) {
	s := Spec{Text: text, OnFull: Block, Format: FormatNative}
	if role == RoleAudit {
		s.OnFull = Drop // unless the spec asks for something else
	}
	base, query, found := strings.Cut(text, "?")
	scheme, target, hasScheme := strings.Cut(base, "://")
	i := slices.IndexFunc(kinds, func(r row) bool { return slices.Contains(r.schemes, scheme) })
	if i < 0 || kinds[i].bare && target != "" || !kinds[i].bare && !hasScheme {
		return Spec{}, nil, unsupported(base)
	}
	s.Kind, s.Scheme, s.Target = kinds[i].kind, scheme, target
	var warnings []string
	if found {
		var err error
		if warnings, err = s.parameters(query, role); err != nil {
			return Spec{}, nil, fmt.Errorf("sink '%s': %w", redact.Text(text), err)
		}
	}
	if kinds[i].open == nil {
		return Spec{}, nil, unsupported(base)
	}
	if check := kinds[i].check; check != nil {
		if err := check(s); err != nil {
			return Spec{}, nil, fmt.Errorf("sink '%s': %w", redact.Text(text), err)
		}
	}
	return s, warnings, nil
}

func unsupported(base string) error {
	var schemes []string
	for _, k := range kinds {
		if k.open != nil {
			schemes = append(schemes, k.schemes...)
		}
	}
	scheme, _, _ := strings.Cut(base, "://")
	if i := slices.IndexFunc(kinds, func(r row) bool { return slices.Contains(r.schemes, scheme) }); i >= 0 && kinds[i].leftOutBy != "" {
		return fmt.Errorf("output sink '%s' is left out of this build, which was made with the tag %s (supported: %s)", redact.Text(base), kinds[i].leftOutBy, usages())
	}
	err := fmt.Errorf("Unsupported output sink '%s' (supported: %s)", redact.Text(base), usages()) //nolint:staticcheck // users find the text in scripts
	switch {
	case scheme == "http", scheme == "https":
		return fmt.Errorf("%w: a file that --webhook names posts results over HTTP", err)
	case strings.HasPrefix(base, "/"):
		return fmt.Errorf("%w: write file://%s for a file", err, redact.Text(base))
	}
	return suggest.Wrap(err, scheme, schemes)
}

var (
	errUnknownFormat = errors.New("Unknown sink format (supported: ndjson, ocsf)") //nolint:staticcheck // users find the text in scripts
	errFormatTwice   = errors.New("format= may be specified only once")
	errFormatOnOTLP  = errors.New("format= is not supported on OTLP sinks")
	errFormatOfLines = errors.New("format= is only supported on findings sinks")
)

func (s *Spec) parameters(query string, role Role) (warnings []string, err error) {
	formatSeen := false
	for parameter := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(parameter, "=")
		switch key {
		case "on_full":
			switch policy := OnFull(value); {
			case role == RoleDLQ:
				warnings = append(warnings, "on_full is ignored on the dead letter queue, which always blocks")
			case policy == Block || policy == Drop:
				s.OnFull = policy
			default:
				s.OnFull = Block
				warning := fmt.Sprintf("unknown on_full '%s' (block, drop): block is used", value)
				if near := suggest.Text(value, []string{string(Block), string(Drop)}); near != "" {
					warning += " (" + near + ")"
				}
				warnings = append(warnings, warning)
			}
		case "format":
			switch {
			case role != RoleFindings:
				return nil, errFormatOfLines
			case s.Kind == KindOTLP:
				return nil, errFormatOnOTLP
			case formatSeen:
				return nil, errFormatTwice
			case value != string(FormatNative) && value != string(FormatOCSF):
				return nil, suggest.Wrap(errUnknownFormat, value, []string{string(FormatNative), string(FormatOCSF)})
			}
			formatSeen, s.Format = true, Format(value)
		default:
			own := s.Kind.row().parameters
			if !slices.Contains(own, key) {
				known := append(s.common(role), own...)
				return nil, suggest.Wrap(fmt.Errorf("unknown parameter '%s', not one of %s", key, strings.Join(known, ", ")), key, known)
			}
			if _, twice := s.Options[key]; twice {
				return nil, fmt.Errorf("%s= may be specified only once", key)
			}
			if s.Options == nil {
				s.Options = make(map[string]string)
			}
			s.Options[key] = value
		}
	}
	return warnings, nil
}

// common are the parameters that sinks of other kinds have, too.
func (s *Spec) common(role Role) []string {
	if role != RoleFindings || s.Kind == KindOTLP {
		return []string{"on_full"}
	}
	return []string{"on_full", "format"}
}

// Labels gives each sink its name in metrics, mailboxes and records: the kind,
// and with a number from the second of its kind on.
func Labels(specs []Spec) []string {
	seen := make(map[Kind]int, len(specs))
	labels := make([]string, len(specs))
	for i, s := range specs {
		seen[s.Kind]++
		labels[i] = string(s.Kind)
		if n := seen[s.Kind]; n > 1 {
			labels[i] = fmt.Sprintf("%s-%d", s.Kind, n)
		}
	}
	return labels
}

// IsLabel reports whether a name is one that Labels gives. Other sinks have names of their
// own.
func IsLabel(name string) bool {
	if i := strings.LastIndexByte(name, '-'); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 1 {
			name = name[:i]
		}
	}
	return slices.ContainsFunc(kinds, func(r row) bool { return string(r.kind) == name })
}

// Distinct reports two sinks that would write to one place that only one may write to,
// however it is spelled.
func Distinct(specs []Spec) error {
	type taken struct {
		text  string
		place *file.Place
	}
	var all []taken
	for _, s := range specs {
		exclusive := s.Kind.row().exclusive
		if exclusive == nil {
			continue
		}
		place, err := exclusive(s)
		if err != nil {
			return fmt.Errorf("sink '%s': %w", redact.Text(s.Text), err)
		}
		if place == nil {
			continue
		}
		for _, other := range all {
			if place.Is(other.place) {
				return fmt.Errorf("sinks '%s' and '%s' write to the same file", redact.Text(other.text), redact.Text(s.Text))
			}
		}
		all = append(all, taken{s.Text, place})
	}
	return nil
}

// Present reports what at the destination would refuse the start, without opening it.
func (s Spec) Present() error {
	if present := s.Kind.row().present; present != nil {
		return present(s)
	}
	return nil
}
