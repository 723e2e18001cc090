package acceptance

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/hex"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// makeIn runs make in a directory that has a Makefile. The version is fixed: that of the
// repository says whether somebody has changed something.
func makeIn(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command(sigmatest.Tool(t, "make", "make"), append([]string{"-s", "VERSION=v0.0.0-test", "REVISION=test"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH=1700000000")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("make %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// statics is where the static programs are built, once for all tests.
var statics struct {
	once sync.Once
	dir  string
}

// static builds the static programs and returns the directory of this machine's.
func static(t *testing.T) string {
	t.Helper()
	if watched {
		t.Skip("the static program has no detector for races; the tests without one run this")
	}
	statics.once.Do(func() {
		dir := filepath.Join(filepath.Dir(binary), "static")
		makeIn(t, root, "static", "STATIC="+dir)
		statics.dir = dir
	})
	if statics.dir == "" {
		t.Fatal("the static programs could not be built")
	}
	return filepath.Join(statics.dir, "linux-"+runtime.GOARCH)
}

func TestStaticProgramsNeedNothingOfTheMachine(t *testing.T) {
	dir := filepath.Dir(static(t))
	for name, machine := range map[string]elf.Machine{"linux-amd64": elf.EM_X86_64, "linux-arm64": elf.EM_AARCH64} {
		t.Run(name, func(t *testing.T) {
			f, err := elf.Open(filepath.Join(dir, name, "sluice"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			if f.Machine != machine {
				t.Errorf("it is for %s, want %s", f.Machine, machine)
			}
			for _, p := range f.Progs {
				if p.Type == elf.PT_INTERP {
					t.Error("it asks for an interpreter")
				}
			}
			if libs, err := f.ImportedLibraries(); err != nil || len(libs) > 0 {
				t.Errorf("it asks for libraries %v (%v)", libs, err)
			}
		})
	}
}

// The root holds the program and its rules, and nothing else: no library, no /etc, /tmp
// or /proc.
func TestTheStaticProgramRunsInAnEmptyRoot(t *testing.T) {
	sigmatest.Need(t, os.Getuid() == 0, "only root may change the root")
	raw, err := os.ReadFile(filepath.Join(static(t), "sluice"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "sluice"), raw, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	for _, tc := range []struct {
		name string
		args []string
	}{
		{"evaluating once", []string{"engine", "eval", "-r", "/rules", "--output-format", "ndjson"}},
		{"as a service that keeps its state", []string{"engine", "daemon", "-r", "/rules", "--api-addr", "127.0.0.1:0", "--state-db", "/state"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := &exec.Cmd{Path: "/sluice", Args: append([]string{"sluice"}, tc.args...), Dir: "/", SysProcAttr: &syscall.SysProcAttr{Chroot: dir}}
			cmd.Env = []string{"NOTHING="} // an empty list would stand for this process's own
			got := finish(t, cmd, event("evil")+"\n"+event("good")+"\n")
			if want := resultLine("A", "evil") + "\n"; got.code != 0 || got.stdout != want {
				t.Errorf("exit code %d, output\n%swant\n%s%s", got.code, got.stdout, want, got.stderr)
			}
		})
	}
}

func TestReleasesAreTheSameBytesWhereverTheyAreMade(t *testing.T) {
	if watched {
		t.Skip("releases have no detector for races; the tests without one run this")
	}
	here, there := t.TempDir(), copyOfSource(t)
	makeIn(t, root, "dist", "STATIC="+filepath.Join(here, "static"), "DIST="+here)
	makeIn(t, there, "dist")
	there = filepath.Join(there, "dist")
	sums, err := os.ReadFile(filepath.Join(here, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(filepath.Join(there, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if string(sums) != string(again) {
		t.Errorf("made here:\n%smade there:\n%s", sums, again)
	}
	lines := strings.Split(strings.TrimSpace(string(sums)), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d archives, want one per platform:\n%s", len(lines), sums)
	}
	for _, line := range lines {
		sum, name, _ := strings.Cut(line, "  ")
		raw, err := os.ReadFile(filepath.Join(here, name))
		if err != nil {
			t.Fatal(err)
		}
		if got := sha256.Sum256(raw); hex.EncodeToString(got[:]) != sum {
			t.Errorf("%s: its checksum is another one", name)
		}
	}
	wantRelease(t, filepath.Join(here, "sluice-v0.0.0-test-linux-"+runtime.GOARCH+".tar.gz"))
}

// wantRelease unpacks a release and does what its reader would.
func wantRelease(t *testing.T, archive string) {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xzf", archive, "-C", dir, "--strip-components=1").CombinedOutput(); err != nil {
		t.Fatalf("unpack: %v\n%s", err, out)
	}
	for _, name := range []string{
		"README.md", "CHANGELOG.md", "docs/operations.md", "docs/deployment.md", "man/sluice.1", "completions/sluice.bash", "completions/_sluice", "completions/sluice.fish",
		"examples/container/Dockerfile", "examples/kubernetes/deployment.yaml", "examples/prometheus/alerts.yaml", "examples/grafana/sluice.json", "examples/systemd/sluice.service",
	} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("the release lacks %s", name)
		}
	}
	got := finish(t, exec.Command(filepath.Join(dir, "sluice"), "version"), "")
	if !strings.HasPrefix(got.stdout, "sluice v0.0.0-test (revision test, ") {
		t.Errorf("the program of the release says %q", got.stdout)
	}
	installs(t, dir)
	page, err := os.ReadFile(filepath.Join(dir, "man", "sluice.1"))
	if err != nil || !strings.Contains(string(page), `sluice v0.0.0\-test`) {
		t.Errorf("the manual page does not name the version (%v)", err)
	}
}

// installs follows the page in an unpacked release.
func installs(t *testing.T, dir string) {
	t.Helper()
	dest := t.TempDir()
	for _, f := range fencesOf(t, "docs/deployment.md", "sh release") {
		cmd := exec.Command("sh", "-e", "-c", f.text)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "DESTDIR="+dest)
		if got := finish(t, cmd, ""); got.code != 0 {
			t.Fatalf("%s: exit code %d\n%s", f, got.code, got.stderr)
		}
	}
	for name, like := range map[string]string{
		"usr/local/bin/sluice": "sluice", "usr/local/share/man/man1/sluice.1": "man/sluice.1", "etc/sluice/rules/linux_auth_root_login.yml": "examples/demo/rules/linux_auth_root_login.yml",
		"etc/systemd/system/sluice.service": "examples/systemd/sluice.service", "etc/sluice/sluice.yaml": "examples/systemd/sluice.yaml",
	} {
		got, err := os.ReadFile(filepath.Join(dest, name))
		if err != nil {
			t.Error(err)
			continue
		}
		if want, err := os.ReadFile(filepath.Join(dir, like)); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not %s (%v)", name, like, err)
		}
	}
}

// fencesOf are the blocks of a page with this information; there is at least one.
func fencesOf(t *testing.T, page, info string) []fence {
	t.Helper()
	all := slices.DeleteFunc(fences(t, page), func(f fence) bool { return f.info != info })
	if len(all) == 0 {
		t.Fatalf("%s has no block of %s", page, info)
	}
	return all
}

// copyOfSource is what a clone of the repository has, in another place.
func copyOfSource(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "bin", "dist", "testdata"}, d.Name()):
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(dir, rel), 0o700) // other modes than a clone has
		case !d.Type().IsRegular() || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, rel), raw, 0o600|info.Mode()&0o100)
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}
