package filetest_test

import (
	"os"
	"testing"

	"github.com/sluicehq/sluice/internal/filetest"
)

func TestAFileHoldsWhatItWasGivenLast(t *testing.T) {
	f := filetest.New(t, "a.yml")
	for _, content := range []string{"", "a longer text", "short", "", "longer again"} {
		f.Hold(t, []byte(content))
		if got, err := os.ReadFile(f.Path); err != nil || string(got) != content {
			t.Errorf("the file holds %q, %v; want %q", got, err, content)
		}
	}
}
