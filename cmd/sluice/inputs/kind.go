package inputs

import (
	"fmt"
	"strings"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/config"
	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/ndjson"
	"github.com/sluicehq/sluice/sources/stdin"
)

// Kind is a kind of input.
type Kind struct {
	Name       string   // in log lines and series
	Schemes    []string // of its specs, without "://"
	Usage      string   // how --input names it
	Bare       bool     // has no target: the scheme alone is a spec
	Parameters []string // that specs of this kind take, beside format
	// Instead says what stands for parameters that other kinds take.
	Instead map[string]string
	Format  string // of lines when the spec names none; "" is --input-format

	// Check reports a target or parameters that can never be opened; nil accepts all.
	Check func(Spec) error
	// Open is nil for a kind that is left out of this build.
	Open func(Environment, Spec) (Opened, error)
	// CheckLogin reports what connections of an input cannot be made with, by its key in
	// Section; nil for a kind that needs nothing for them.
	CheckLogin func(cfg *config.Daemon, s Spec, now time.Time, fault func(key string, err error))
	Section    string // of the daemon's settings that CheckLogin reads
	// NeedsState returns what of a spec cannot do without a state database, "" when nothing
	// needs one; nil stands for that, too.
	NeedsState func(Spec) string
	Replays    bool // has streams that can be read again from a given place
	// LeftOutBy is the build tag that left the kind out.
	LeftOutBy string
}

// Opened is an input that was opened: one of both is set.
type Opened struct {
	Source sources.Source
	Pushed *ndjson.Intake // of events that requests bring
}

// Kinds are the kinds of inputs, in the order in which messages list them.
func Kinds() []Kind {
	return []Kind{
		{Name: "stdin", Schemes: []string{"stdin"}, Usage: "stdin", Bare: true, Open: openStdin},
		{Name: "http", Schemes: []string{"http"}, Usage: "http", Bare: true, Open: openHTTP},
		natsKind,
		kafkaKind,
		{Name: "unix", Schemes: []string{"unix"}, Usage: "unix:///path", Parameters: []string{maxConnections}, Check: checkUnix, Open: openUnix},
		{
			Name: "syslog", Schemes: []string{"syslog+udp", "syslog+tcp", "syslog+tls"}, Usage: "syslog+udp://host:port (or +tcp, +tls)",
			Parameters: []string{maxConnections}, Format: "syslog", Check: checkSyslog, Open: openSyslog,
			CheckLogin: checkSyslogTLS, Section: "input.syslog",
		},
	}
}

func openStdin(env Environment, spec Spec) (Opened, error) {
	s := stdin.New(env.In)
	s.Encoded = func(e sources.Encoding) {
		env.Log.Warn(fmt.Sprintf("standard input is %s and is read as lines, so its events are not found: send it through %s",
			e, strings.TrimSuffix(e.Tool(), " FILE")), "source", spec.String())
	}
	return Opened{Source: s}, nil
}

func openHTTP(env Environment, spec Spec) (Opened, error) {
	f, err := format.Parse(spec.format(env.Config))
	if err != nil {
		return Opened{}, err
	}
	in := ndjson.NewIntake(env.Intake(spec, time.Now), int64(env.Config.Input.HTTP.MaxBodyBytes), env.Over)
	in.Lines, in.Whole = !f.Values(), env.Config.Input.Filtered()
	return Opened{Pushed: in}, nil
}
