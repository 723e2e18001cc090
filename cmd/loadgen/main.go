// Command loadgen sends events to a running daemon.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "loadgen:", err)
		}
		os.Exit(1)
	}
}

func run(args []string, stdout, stderr io.Writer) error {
	var p post
	fs := flag.NewFlagSet("loadgen", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.StringVar(&p.addr, "addr", "127.0.0.1:9090", "host:port of the daemon's API")
	fs.StringVar(&p.file, "file", "-", "NDJSON events, plain or .gz; - is standard input")
	fs.IntVar(&p.lines, "lines", 500, "lines in one request body")
	fs.IntVar(&p.repeat, "repeat", 1, "how often to send the file")
	fs.IntVar(&p.connections, "connections", 2, "requests under way at once; order between them is not kept")
	fs.BoolVar(&p.commit, "commit", false, "let every request wait until its events have ended at every sink")
	fs.BoolVar(&p.gzip, "gzip", false, "compress the bodies")
	fs.DurationVar(&p.wait, "wait", 0, "how long to wait for the daemon to become ready")
	quiet := fs.Bool("quiet", false, "print nothing about the rate")
	var b bench
	asked := fs.Bool("bench", false, "start a daemon and hold it under load against its bars")
	fs.StringVar(&b.daemon, "daemon", "bin/sluice", "with -bench: the program to start")
	fs.StringVar(&b.data, "data", "", "with -bench: directory of the corpus (default: SLUICE_DATA, else ../shared/data)")
	fs.StringVar(&b.lane, "lane", "", "with -bench: measure only this lane")
	fs.DurationVar(&b.each, "time", 9*time.Second, "with -bench: how long each lane is posted")
	fs.BoolVar(&b.check, "check", false, "with -bench: exit 1 when a bar is missed")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if fs.NArg() > 0 && !*asked {
		return fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if *asked {
		b.lines, b.connections, b.more = p.lines, p.connections, fs.Args()
		return b.run(ctx, stdout)
	}
	sent, took, err := p.run(ctx)
	if err == nil && !*quiet {
		fmt.Fprintf(stdout, "%d events in %s, %.0f events/s\n", sent, took.Round(time.Millisecond), float64(sent)/took.Seconds())
	}
	return err
}
