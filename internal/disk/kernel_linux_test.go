package disk

import (
	"errors"
	"testing"
)

func TestNothingIsKeptInFileSystemsOfTheKernel(t *testing.T) {
	for _, tc := range []struct {
		name, path string
		want       error
	}{
		{"a directory in /proc", "/proc/state", errKernel},
		{"one further down", "/proc/self/a/b", errKernel},
		{"one in /sys", "/sys/state", errKernel},
		{"a usual one", t.TempDir(), nil},
	} {
		if err := CheckDirectory(tc.path); err != nil && tc.want == nil || tc.want != nil && err == nil {
			t.Errorf("%s: got %v, want %v", tc.name, err, tc.want)
		} else if err != nil && !errors.Is(err, tc.want) {
			t.Logf("%s is refused for another reason here: %v", tc.path, err)
		}
	}
}
