package acceptance

import (
	"crypto/tls"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

func read(t *testing.T, parts ...string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(append([]string{root, "examples"}, parts...)...))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// The Deployment with TLS differs from the other by that alone, and its files, its secret
// and its probes fit each other.
func TestTheDeploymentWithTLS(t *testing.T) {
	plain, _, _ := strings.Cut(read(t, "kubernetes", "deployment.yaml"), "\n---\n")
	secured := read(t, "kubernetes", "tls", "deployment.yaml")
	body := func(text string) (lines []string) {
		for line := range strings.Lines(text) {
			if line = strings.TrimRight(line, "\n"); !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		return lines
	}
	var gone, added []string
	was, is := body(plain), body(secured)
	for _, line := range was {
		if !slices.Contains(is, line) {
			gone = append(gone, strings.TrimSpace(line))
		}
	}
	for _, line := range is {
		if !slices.Contains(was, line) {
			added = append(added, strings.TrimSpace(line))
		}
	}
	wantGone := []string{
		"- --allow-plaintext # networkpolicy.yaml says who may reach it",
		"httpGet: {path: /readyz, port: api}", "httpGet: {path: /healthz, port: api}", "httpGet: {path: /healthz, port: api}",
	}
	if !slices.Equal(gone, wantGone) {
		t.Errorf("without TLS there is also\n%s", strings.Join(gone, "\n"))
	}
	for _, line := range added {
		if !strings.Contains(strings.ToLower(line), "tls") && !strings.Contains(line, "https") && !strings.Contains(line, "HTTPS") &&
			!strings.HasPrefix(line, "fsGroup: 65532") && !strings.HasPrefix(line, "volumeMounts:") && line != "volumes:" {
			t.Errorf("with TLS there is also %s", line)
		}
	}
	var m manifest
	if err := yaml.Unmarshal([]byte(secured), &m); err != nil {
		t.Fatal(err)
	}
	c := m.Spec.Template.Spec.Containers[0]
	for _, p := range []probe{c.Startup, c.Readiness, c.Liveness} {
		if p.HTTPGet.Scheme != "HTTPS" {
			t.Errorf("the probe of %s is in clear", p.HTTPGet.Path)
		}
	}
	if len(c.Mounts) != 1 || len(m.Spec.Template.Spec.Volumes) != 1 || c.Mounts[0].Name != m.Spec.Template.Spec.Volumes[0].Name {
		t.Fatalf("mounts %+v of volumes %+v", c.Mounts, m.Spec.Template.Spec.Volumes)
	}
	var certificate struct {
		Spec struct {
			Secret string `yaml:"secretName"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "kubernetes", "tls", "certificate.yaml")), &certificate); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(secured, "secretName: "+certificate.Spec.Secret+",") {
		t.Errorf("the secret %s is not mounted", certificate.Spec.Secret)
	}

	// The arguments start a daemon where the volume is mounted.
	ours, dir := certstest.New(t, "ours"), t.TempDir()
	secret := filepath.Join(dir, "tls")
	if err := os.Mkdir(secret, 0o755); err != nil {
		t.Fatal(err)
	}
	mounted(t, secret)(ours.Issue("sluice", time.Hour))
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	args := slices.Clone(c.Args)
	for i := range args {
		args[i] = strings.NewReplacer(c.Mounts[0].Path, secret, "/etc/sluice/rules", filepath.Join(dir, "rules"), "0.0.0.0:9090", "127.0.0.1:0").Replace(args[i])
	}
	d := startIn(t, dir, args[2:]...)
	d.tls = &tls.Config{RootCAs: ours.Pool}
	d.serves("sluice")
	d.stop()
}

// The drop-in for systemd is understood, and starts a daemon with the credentials.
func TestTheUnitWithTLS(t *testing.T) {
	drop := read(t, "systemd", "tls.conf")
	var line string
	for l := range strings.Lines(drop) {
		if v, ok := strings.CutPrefix(l, "ExecStart=/"); ok {
			line = "/" + strings.TrimSpace(v)
		}
	}
	if !strings.HasPrefix(line, unitLines(t)["ExecStart"]+" ") {
		t.Errorf("the drop-in runs %s, and the unit %s", line, unitLines(t)["ExecStart"])
	}
	ours, dir := certstest.New(t, "ours"), installed(t)
	cert, key := ours.Issue("sluice", time.Hour)
	credentials := filepath.Join(dir, "credentials")
	for name, from := range map[string]string{"tls.crt": cert, "tls.key": key} {
		raw, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		write(t, credentials, name, string(raw))
		if !strings.Contains(drop, "LoadCredential="+name+":") {
			t.Errorf("the drop-in has no credential %s", name)
		}
	}
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	file := write(t, dir, "sluice.yaml", "daemon: {rules: rules, input: {source: http}}\n")
	args := strings.Fields(strings.NewReplacer("%d", credentials, "/etc/sluice/sluice.yaml", file).Replace(line))
	d := startIn(t, dir, args[3:]...)
	d.tls = &tls.Config{RootCAs: ours.Pool}
	d.serves("sluice")
	d.stop()

	analyze := sigmatest.Tool(t, "systemd-analyze", "systemd")
	write(t, dir, "etc/systemd/system/sluice.service.d/tls.conf", drop)
	got := finish(t, exec.Command(analyze, "--root="+dir, "--recursive-errors=no", "--man=no", "verify", filepath.Join(dir, "etc/systemd/system/sluice.service")), "")
	if got.code != 0 || strings.Contains(got.stderr, "tls.conf") || strings.Contains(got.stderr, "sluice.service") {
		t.Errorf("verify: exit code %d\n%s", got.code, got.stderr)
	}
}
