package logtest_test

import (
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/sluicehq/sluice/internal/logtest"
)

func TestALogIsReadWhileItIsWritten(t *testing.T) {
	var b logtest.Buffer
	log := b.Logger(slog.LevelInfo)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			log.Debug("left out")
			log.Info("kept")
			if !strings.Contains(b.String(), "msg=kept\n") {
				t.Error("what was written is not there")
			}
		})
	}
	wg.Wait()
	if got := b.String(); strings.Count(got, "msg=kept\n") != 10 || strings.Contains(got, "left out") {
		t.Errorf("the log is\n%s", got)
	}
}
