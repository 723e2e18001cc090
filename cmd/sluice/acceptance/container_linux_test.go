package acceptance

import (
	"encoding/json"
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
	args []string
}

func newBuilder(t *testing.T) *builder {
	t.Helper()
	path := sigmatest.Tool(t, "buildah", "buildah")
	sigmatest.Need(t, os.Getuid() == 0, "the store of images belongs to root")
	dir := t.TempDir()
	b := &builder{t, path, []string{"--storage-driver", "vfs", "--root", filepath.Join(dir, "store"), "--runroot", filepath.Join(dir, "run")}}
	// Nobody asks a registry: there is nothing but these images.
	t.Setenv("CONTAINERS_REGISTRIES_CONF", write(t, dir, "registries.conf", "unqualified-search-registries = []\nshort-name-mode = \"disabled\"\n"))
	return b
}

// do runs a command of the tool and returns what it printed.
func (b *builder) do(args ...string) string {
	b.t.Helper()
	got := finish(b.t, exec.Command(b.path, append(slices.Clone(b.args), args...)...), "")
	if got.code != 0 {
		b.t.Fatalf("buildah %s: exit code %d\n%s%s", strings.Join(args, " "), got.code, got.stdout, got.stderr)
	}
	return strings.TrimSpace(got.stdout)
}

func TestTheImageHoldsTheProgramAndNothingElse(t *testing.T) {
	b := newBuilder(t)
	recipes := filepath.Join(root, "examples", "container")
	b.do("build", "--isolation", "chroot", "-f", filepath.Join(recipes, "Dockerfile"), "-t", "localhost/sluice", static(t))
	c := b.do("from", "localhost/sluice")

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
	if err := json.Unmarshal([]byte(b.do("inspect", "--type", "image", "localhost/sluice")), &image); err != nil {
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
	context := t.TempDir()
	write(t, context, "rules/a.yml", rule("A", "evil"))
	b.do("build", "--isolation", "chroot", "-f", filepath.Join(recipes, "Dockerfile.rules"), "--build-arg", "BASE=localhost/sluice", "-t", "localhost/sluice-rules", context)
	c = b.do("from", "localhost/sluice-rules")
	got := b.do("run", "--isolation", "chroot", "--user", config.User, c, "--", config.Entrypoint[0],
		"engine", "eval", "-r", "/etc/sluice/rules", "--output-format", "ndjson", "-e", event("evil"))
	if want := resultLine("A", "evil"); got != want {
		t.Errorf("in a container it prints\n%s\nwant\n%s", got, want)
	}
}
