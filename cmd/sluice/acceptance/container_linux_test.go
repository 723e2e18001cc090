package acceptance

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// builder builds images in a store of its own, without a service and without
// namespaces.
type builder struct {
	t    *testing.T
	path string
}

func newBuilder(t *testing.T) *builder {
	t.Helper()
	path := sigmatest.Tool(t, "buildah", "buildah")
	sigmatest.Need(t, os.Getuid() == 0, "the store of images belongs to root")
	dir := t.TempDir()
	t.Setenv("CONTAINERS_STORAGE_CONF", write(t, dir, "storage.conf", fmt.Sprintf(
		"[storage]\ndriver = \"vfs\"\ngraphroot = %q\nrunroot = %q\n", filepath.Join(dir, "store"), filepath.Join(dir, "run"))))
	t.Setenv("BUILDAH_ISOLATION", "chroot")
	// Nobody asks a registry: there is nothing but these images.
	t.Setenv("CONTAINERS_REGISTRIES_CONF", write(t, dir, "registries.conf", "unqualified-search-registries = []\n"))
	return &builder{t, path}
}

// do runs a command of the tool and returns what it printed.
func (b *builder) do(args ...string) string {
	b.t.Helper()
	got := finish(b.t, exec.Command(b.path, args...), "")
	if got.code != 0 {
		b.t.Fatalf("buildah %s: exit code %d\n%s%s", strings.Join(args, " "), got.code, got.stdout, got.stderr)
	}
	return strings.TrimSpace(got.stdout)
}

func TestTheImageHoldsTheProgramAndNothingElse(t *testing.T) {
	b := newBuilder(t)
	r := newReader(t)
	context := filepath.Join(r.dir, "bin", "static", "linux-amd64")
	if err := os.CopyFS(context, os.DirFS(static(t))); err != nil {
		t.Fatal(err)
	}
	all, ran := fences(t, "docs/deployment.md"), 0
	for i, f := range all {
		if f.info != "sh image" {
			continue
		}
		ran++
		cmd := exec.Command("sh", "-e", "-c", f.text)
		cmd.Dir = r.dir
		got := finish(t, cmd, "")
		if got.code != 0 {
			t.Fatalf("%s: exit code %d\n%s%s", f, got.code, got.stdout, got.stderr)
		}
		if i+1 < len(all) && all[i+1].info == "text" {
			compare(t, all[i+1], got.stdout)
		}
	}
	if ran < 3 {
		t.Fatalf("the page builds and runs the images in %d blocks, want one to build and two to run", ran)
	}
	c := b.do("from", "sluice")

	var files []string
	err := fs.WalkDir(os.DirFS(b.do("mount", c)), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	})
	if err != nil || !slices.Equal(files, []string{"usr/local/bin/sluice"}) {
		t.Errorf("the image holds %q (%v)", files, err)
	}
	b.do("unmount", c)

	var image struct {
		OCI struct {
			Config struct {
				User         string
				ExposedPorts map[string]struct{}
				Entrypoint   []string
				Cmd          []string
			} `json:"config"`
		} `json:"OCIv1"`
	}
	if err := json.Unmarshal([]byte(b.do("inspect", "--type", "image", "sluice")), &image); err != nil {
		t.Fatal(err)
	}
	config := image.OCI.Config
	if _, open := config.ExposedPorts["9090/tcp"]; config.User != "65532:65532" || !open || len(config.Entrypoint) != 1 {
		t.Errorf("the image is configured as %+v", config)
	}
	if got := sluice(t, "", append(config.Cmd, "--dry-run")...); got.code != 0 || !strings.Contains(got.stdout, "0.0.0.0:9090") {
		t.Errorf("the program does not take the image's arguments: exit code %d\n%s", got.code, got.stderr)
	}

	// Rules come on top.
	c = b.do("from", "sluice-rules")
	got := b.do("run", "--user", config.User, c, "--", config.Entrypoint[0], "engine", "eval", "-r", "/etc/sluice/rules", "--output-format", "ndjson",
		"-e", `{"Image":"C:\\Windows\\System32\\vssadmin.exe","CommandLine":"vssadmin delete shadows"}`)
	if !strings.HasPrefix(got, `{"rule_title":"Shadow Copies Deleted",`) || strings.Contains(got, "\n") {
		t.Errorf("in a container it prints\n%s", got)
	}
}
