// Sluice evaluates Sigma rules on streams of events.
package main

import (
	"os"
	"os/signal"
	"syscall"

	"github.com/sluicehq/sluice/cmd/sluice/command"
)

func main() {
	signals := make(chan os.Signal, 2) // the second one ends the process at once
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // a closed standard output is a delivery error like any other
	os.Exit(command.Run(signals, os.Args, os.Stdin, os.Stdout, os.Stderr))
}
