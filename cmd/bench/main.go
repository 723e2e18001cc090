// Command bench measures Sluice and holds the figures against bars, and sends
// events to a running daemon.
//
//	bench corpus       the engine on real rules and events, on one core
//	bench formats      lines of syslog, CEF and logfmt, on one core
//	bench correlation  correlations by type and window, and a lane of six rules
//	bench daemon       a whole daemon under load against the engine alone
//	bench bodies       bodies that are arrays against bodies of lines
//	bench otlp         log records over HTTP and gRPC against bodies of lines
//	bench sinks        daemons with several sinks against one with a single sink, and those that
//	                   send over NATS and OTLP against one that writes a file
//	bench tls          events over TLS against events in clear
//	bench inputs       events that come over unix sockets, NATS and Kafka against events over HTTP
//	bench sockets      events over unix sockets and as syslog against events in requests
//	bench post         send a file of events to POST /api/v1/events
//
// Lanes are measured against json.Valid over the same lines in the same run: a
// ratio of 1.0 is as fast as merely checking that the lines are JSON. Times are
// processor time unless a row says otherwise, so a busy machine disturbs them
// less.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM) // what is begun ends, and leaves nothing behind
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "bench:", err)
		}
		os.Exit(1)
	}
}

// errMissed is the outcome of a measurement under -check that missed a bar.
var errMissed = errors.New("a bar is missed")

// options are the flags that measurements share.
type options struct {
	data, only string
	each       time.Duration
	groups     []int // of the correlations' figures
	child      bool
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return errors.New("name what to do: corpus, formats, correlation, daemon, bodies, otlp, sinks, tls, inputs, sockets or post")
	}
	fs := flag.NewFlagSet("bench "+args[0], flag.ContinueOnError)
	fs.SetOutput(stderr)
	if args[0] == "receive" && len(args) == 2 { // what a measurement starts
		return receive(args[1])
	}
	if args[0] == "post" {
		return runPost(ctx, fs, args[1:], stdout)
	}
	o := options{groups: []int{1, 1000, 100_000}}
	r := report{out: stdout}
	each := map[string]time.Duration{"corpus": 3 * time.Second, "formats": 3 * time.Second, "correlation": 200 * time.Millisecond, "daemon": 9 * time.Second, "bodies": 9 * time.Second, "otlp": 9 * time.Second, "sinks": 9 * time.Second, "tls": 9 * time.Second, "inputs": 9 * time.Second, "sockets": 9 * time.Second}
	fs.StringVar(&o.data, "data", "", "directory of the corpus (default: SLUICE_DATA, else ../shared/data)")
	fs.StringVar(&o.only, "only", "", "measure only this lane, these lines or, of correlations, this part: engine, growth, memory or lane")
	fs.DurationVar(&o.each, "time", each[args[0]], "how long each figure is measured")
	check := fs.Bool("check", false, "exit 1 when a bar is missed")
	var measure func(context.Context, options) error
	switch args[0] {
	case "corpus":
		fs.BoolVar(&o.child, "memory", false, "load the rules, judge all lanes and print the memory used (what the parent starts)")
		measure = r.corpus
	case "formats":
		measure = r.formats
	case "correlation":
		measure = r.correlation
	case "daemon", "bodies", "otlp", "sinks", "tls", "inputs", "sockets":
		b := bench{report: &r}
		fs.StringVar(&b.program, "daemon", "bin/sluice", "the program to start; further arguments are the daemon's")
		fs.IntVar(&b.post.lines, "lines", 500, "lines in one request body")
		if args[0] == "inputs" {
			fs.StringVar(&b.inlet, "input", "", "measure only this input")
		}
		fs.IntVar(&b.post.connections, "connections", 2, "requests under way at once")
		measure = func(ctx context.Context, o options) error {
			b.more = fs.Args()
			switch args[0] {
			case "bodies":
				return b.runBodies(ctx, o)
			case "otlp":
				return b.runOTLP(ctx, o)
			case "sinks":
				return b.runSinks(ctx, o)
			case "tls":
				return b.runTLS(ctx, o)
			case "sockets":
				return b.runSockets(ctx, o)
			case "inputs":
				return b.runInputs(ctx, o)
			}
			return b.run(ctx, o)
		}
	default:
		return fmt.Errorf("unknown measurement %q (corpus, formats, correlation, daemon, bodies, otlp, sinks, tls, inputs, sockets, post)", args[0])
	}
	if err := fs.Parse(args[1:]); err != nil {
		return err
	}
	if fs.NArg() > 0 && !slices.Contains([]string{"daemon", "bodies", "otlp", "sinks", "tls", "inputs", "sockets"}, args[0]) {
		return fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if o.data == "" {
		var err error
		if o.data, err = sigmatest.FindData(); err != nil {
			return err
		}
	}
	if err := measure(ctx, o); err != nil {
		return err
	}
	if r.missed > 0 && *check {
		return errMissed
	}
	return nil
}
