package leaktest

import (
	"strings"
	"testing"
	"time"
)

func TestAGoroutineThatStaysIsFound(t *testing.T) {
	stop := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-stop
	}()
	if err := wait(1); err == nil || !strings.Contains(err.Error(), "TestAGoroutineThatStaysIsFound") {
		t.Errorf("while a goroutine stays: got %v, want an error with its stack", err)
	}
	close(stop)
	<-ended
	if err := wait(patience); err != nil {
		t.Errorf("after it ended: got %v, want nil", err)
	}
}

func TestAGoroutineThatEndsByItselfIsWaitedFor(t *testing.T) {
	go time.Sleep(time.Second) // longer than goleak waits by itself
	if err := wait(patience); err != nil {
		t.Errorf("got %v, want nil", err)
	}
}
