package sink

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/actors/sink/file"
	"github.com/sluicehq/sluice/actors/sink/stdout"
	"github.com/sluicehq/sluice/actors/sink/unix"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/ocsf"
	"github.com/sluicehq/sluice/graph/step"
	"github.com/sluicehq/sluice/internal/disk"
	"github.com/sluicehq/sluice/internal/kafkaconn"
	"github.com/sluicehq/sluice/internal/natsconn"
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
	KindKafka  Kind = "kafka"
)

// row is all that this package knows of one kind.
type row struct {
	kind       Kind
	schemes    []string
	usage      string   // how a spec names the destination
	parameters []string // that its specs take beside those of every sink
	bare       bool     // there is one destination, which the scheme alone names
	unit       bool     // batches are written as a unit, else item by item
	linger     bool     // a batch waits to fill
	window     int      // batches that are tried together at first, while so many wait; 0 for one

	// check reports a target or parameters that cannot be right; nil accepts any.
	check func(s Spec) error
	// present reports what at the destination would refuse the start; nil for nothing. It
	// opens and changes nothing, and validation asks it.
	present func(s Spec) error
	// exclusive is where no other sink may write; nil for a kind whose sinks may share.
	exclusive func(s Spec) (*file.Place, error)
	// login reads what its connections need, and reports what cannot be right; nil for nothing.
	login func(c Logins, now time.Time, fault func(key string, err error))
	// form is what its sinks take, and how; nil for lines in the format of the spec.
	form func(s Spec, e Environment) graph.Form
	// text makes the body of a message of a line that has no form, such as a dead letter;
	// nil when the line itself is the body.
	text func(dst, line []byte) []byte
	// leftOutBy names the build tag that left the kind out of this build. Such a kind has a
	// row in a file of its own, so that its libraries are left out, too.
	leftOutBy string
	// open is nil for a kind that this build does not write to.
	open func(s Spec, e Environment) (Transport, error)
}

// Environment is what sinks share with the rest of the process.
type Environment struct {
	Stdout  *stdout.Stream   // all specs that name standard output write to it, which keeps their lines apart
	Now     func() time.Time // the clock
	Pretty  bool             // results on standard output are indented
	Version string           // of the build
	Log     *slog.Logger
	NATS    natsconn.Client // how connections to NATS are made
	Kafka   kafkaconn.Client
	Label   string // of the sink that is being opened
}

var kinds = []row{
	{
		kind: KindStdout, schemes: []string{"stdout"}, usage: "stdout", bare: true,
		open: func(_ Spec, e Environment) (Transport, error) { return stdout.New(e.Stdout), nil },
	},
	{
		kind: KindFile, schemes: []string{"file"}, usage: "file://<path>", unit: true,
		check:     func(s Spec) error { return file.Check(s.Target) },
		present:   func(s Spec) error { return disk.CheckFile(s.Target) },
		exclusive: func(s Spec) (*file.Place, error) { return file.PlaceOf(s.Target) },
		open:      func(s Spec, e Environment) (Transport, error) { return file.Open(s.Target, e.Now) },
	},
	{
		kind: KindUnix, schemes: []string{"unix"}, usage: "unix:///path",
		check:   func(s Spec) error { return unix.Check(s.Target) },
		present: func(s Spec) error { return unix.Present(s.Target) },
		open: func(s Spec, _ Environment) (Transport, error) {
			return unix.Open(context.Background(), s.Target)
		},
	},
	natsKind,
	kafkaKind,
	otlpKind,
}

// row is what is known of kind k.
func (k Kind) row() row {
	if i := slices.IndexFunc(kinds, func(r row) bool { return r.kind == k }); i >= 0 {
		return kinds[i]
	}
	return row{}
}

// mostTogether is how many items are tried together at most, unless one batch has more.
const mostTogether = 1024

// together is how many items a sink of kind k tries together at first. A batch of one item
// stays alone.
func (k Kind) together(batchMax int) int {
	batchMax = max(1, batchMax)
	if batchMax == 1 {
		return 1
	}
	return max(batchMax, min(mostTogether, batchMax*k.row().window))
}

// Logins are the settings of connections.
type Logins struct {
	NATS  natsconn.Config
	Kafka kafkaconn.Config
}

// CheckLogin reads what connections of sinks of kind k need, and reports what cannot be
// right. No error shows what is in it.
func (k Kind) CheckLogin(c Logins, now time.Time, fault func(key string, err error)) {
	if login := k.row().login; login != nil {
		login(c, now, fault)
	}
}

// Body makes the body of a message of a line that has no form, such as a dead letter. It
// may be the line itself.
func (k Kind) Body(line []byte) []byte {
	if text := k.row().text; text != nil {
		return text(nil, line)
	}
	return line
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

// Schemes lists how the specs begin that this version writes to.
func Schemes() (all []string) {
	for _, a := range kinds {
		for _, s := range a.schemes {
			if a.open != nil && !a.bare {
				s += "://"
			}
			if a.open != nil {
				all = append(all, s)
			}
		}
	}
	return all
}

// LeftOut lists the kinds that a build tag left out of this build.
func LeftOut() (all []Kind) {
	for _, a := range kinds {
		if a.leftOutBy != "" {
			all = append(all, a.kind)
		}
	}
	return all
}

// Open opens the destination of s.
func Open(s Spec, e Environment) (Transport, error) {
	if open := s.Kind.row().open; open != nil {
		return open(s, e)
	}
	return nil, unsupported(s.Text)
}

// Form is what a sink with this spec takes, and how.
func (s Spec) Form(e Environment) graph.Form {
	if form := s.Kind.row().form; form != nil {
		return form(s, e)
	}
	var form graph.Form = step.Native{}
	if s.Format == FormatOCSF {
		form = ocsf.New(e.Version)
	}
	if e.Pretty && s.Kind == KindStdout {
		return step.Pretty{Of: form}
	}
	return form
}
