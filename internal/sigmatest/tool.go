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
	if ToolsRequired() {
		tb.Fatalf("%v: install the package %s", err, debian)
	}
	tb.Skipf("%v: install the package %s to run this test", err, debian)
	return ""
}

// ToolsRequired reports whether a test fails rather than being skipped when something
// of the machine is missing.
func ToolsRequired() bool { return os.Getenv("SLUICE_TOOLS") == "required" }
