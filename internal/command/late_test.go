package command

import (
	"context"
	"os"
	"os/exec"
	"testing"
)

func TestAProgramThatHasExitedWasInTime(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	exited := make(chan struct{})
	close(exited)
	r := run{process: cmd.Process, over: make(chan struct{})}
	for range 50 { // a select takes either
		if err := r.stop(over, exited, []*pipe{{done: exited}}); err != nil {
			t.Fatalf("got %v of a program that has exited", err)
		}
	}
}
