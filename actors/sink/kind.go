package sink

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/actors/sink/file"
	"github.com/sluicehq/sluice/actors/sink/stdout"
	"github.com/sluicehq/sluice/actors/sink/unix"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/ocsf"
	"github.com/sluicehq/sluice/graph/step"
)

// Kind is what a sink writes to. It is also the label of the first sink of its
// kind.
type Kind string

// The kinds of sinks a spec can name.
const (
	KindStdout Kind = "stdout"
	KindFile   Kind = "file"
	KindUnix   Kind = "unix"
	KindNATS   Kind = "nats"
	KindOTLP   Kind = "otlp"
)

// about is all that this package knows of one kind.
type about struct {
	kind    Kind
	schemes []string
	usage   string // how a spec names the destination
	bare    bool   // there is one destination, which the scheme alone names
	unit    bool   // batches are written as a unit, else item by item

	// check reports a target that cannot be one; nil accepts any.
	check func(target string) error
	// open is nil for a kind that this version does not write to.
	open func(s Spec, out *stdout.Stream, now func() time.Time) (Transport, error)
}

var kinds = []about{
	{
		kind: KindStdout, schemes: []string{"stdout"}, usage: "stdout", bare: true,
		open: func(_ Spec, out *stdout.Stream, _ func() time.Time) (Transport, error) { return stdout.New(out), nil },
	},
	{
		kind: KindFile, schemes: []string{"file"}, usage: "file://<path>", unit: true, check: file.Check,
		open: func(s Spec, _ *stdout.Stream, now func() time.Time) (Transport, error) {
			return file.Open(s.Target, now)
		},
	},
	{
		kind: KindUnix, schemes: []string{"unix"}, usage: "unix:///path", check: unix.Check,
		open: func(s Spec, _ *stdout.Stream, _ func() time.Time) (Transport, error) {
			return unix.Open(context.Background(), s.Target)
		},
	},
	{kind: KindNATS, schemes: []string{"nats"}},
	{kind: KindOTLP, schemes: []string{"otlp", "otlps", "otlphttp", "otlphttps"}},
}

// about is what is known of kind k.
func (k Kind) about() about {
	if i := slices.IndexFunc(kinds, func(a about) bool { return a.kind == k }); i >= 0 {
		return kinds[i]
	}
	return about{}
}

// usages lists how specs name the destinations that this version writes to.
func usages() string {
	var all []string
	for _, a := range kinds {
		if a.open != nil {
			all = append(all, a.usage)
		}
	}
	return strings.Join(all, ", ")
}

// Open opens the destination of s. All specs that name standard output write to
// out, which keeps their lines apart; now is the clock.
func Open(s Spec, out *stdout.Stream, now func() time.Time) (Transport, error) {
	if open := s.Kind.about().open; open != nil {
		return open(s, out, now)
	}
	return nil, unsupported(s.Text)
}

// Form is what a sink with this spec takes, and how. Pretty indents results on
// standard output; version is that of the build, which findings tell.
func (s Spec) Form(pretty bool, version string) graph.Form {
	var form graph.Form = step.Native{}
	if s.Format == FormatOCSF {
		form = ocsf.New(version)
	}
	if pretty && s.Kind == KindStdout {
		return step.Pretty{Of: form}
	}
	return form
}
