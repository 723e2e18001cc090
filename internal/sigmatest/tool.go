package sigmatest

import (
	"os"
	"os/exec"
	"testing"
)

// Tool returns the path of a program of the machine that a test uses, from the Debian
// package of that name. The test is skipped without it, and fails where the environment
// says that the tools must be there: SLUICE_TOOLS=required.
func Tool(tb testing.TB, name, debian string) string {
	tb.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	Need(tb, false, err.Error()+": install the package "+debian+" to run this test")
	return ""
}

// Need skips the test, or fails it where tools must be there, unless ok holds.
func Need(tb testing.TB, ok bool, otherwise string) {
	tb.Helper()
	switch {
	case ok:
	case os.Getenv("SLUICE_TOOLS") == "required":
		tb.Fatal(otherwise)
	default:
		tb.Skip(otherwise)
	}
}
