package acceptance

import (
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

// The drop-in with tokens is understood beside that with TLS, and the daemon asks for the
// tokens that it names.
func TestTheUnitWithTokens(t *testing.T) {
	drop, page := read(t, "systemd", "tokens.conf"), read(t, "..", "docs", "deployment.md")
	var env []string
	for line := range strings.Lines(drop) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), "Environment="); ok {
			env = append(env, strings.Trim(v, `"`))
		}
		if strings.HasPrefix(line, "ExecStart") {
			t.Errorf("the drop-in would undo the ExecStart of tls.conf: %s", line)
		}
	}
	if len(env) != 1 {
		t.Fatalf("the variables are %q, want one", env)
	}
	_, file, _ := strings.Cut(drop, "\nEnvironmentFile=")
	file, _, _ = strings.Cut(file, "\n")
	if !strings.Contains(page, "install -m 0600 /dev/null "+file+"\n") {
		t.Errorf("the page does not make the file %q", file)
	}
	_, names, _ := strings.Cut(page, "for name in ")
	names, _, _ = strings.Cut(names, ";")
	for name := range strings.FieldsSeq(names) {
		env = append(env, name+"_TOKEN=the secret of "+strings.ToLower(name))
	}

	dir := installed(t)
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	d := launchWith(t, dir, env, "--config", write(t, dir, "sluice.yaml", "daemon: {rules: rules, input: {source: http}}\n"))
	d.awaitLog("API server listening")
	for token, path := range map[string]string{"admin": "/api/v1/status", "prometheus": "/metrics"} {
		if got := d.do("GET", path, "", "Authorization", "Bearer the secret of "+token); got.status != 200 {
			t.Errorf("%s: got %d %s", token, got.status, got.body)
		}
	}
	if got := d.do("POST", "/api/v1/events", event("evil"), "Authorization", "Bearer the secret of shipper"); got.status != 200 {
		t.Errorf("shipper: got %d %s", got.status, got.body)
	}
	if got := d.get("/metrics"); got.status != 401 {
		t.Errorf("nobody: got %d, want 401", got.status)
	}
	d.stop()

	analyze := sigmatest.Tool(t, "systemd-analyze", "systemd")
	for _, name := range []string{"tls.conf", "tokens.conf"} {
		write(t, dir, "etc/systemd/system/sluice.service.d/"+name, read(t, "systemd", name))
	}
	got := finish(t, exec.Command(analyze, "--root="+dir, "--recursive-errors=no", "--man=no", "verify", filepath.Join(dir, "etc/systemd/system/sluice.service")), "")
	if got.code != 0 || strings.Contains(got.stderr, ".conf") || strings.Contains(got.stderr, "sluice.service") {
		t.Errorf("verify: exit code %d\n%s", got.code, got.stderr)
	}
}

// With TLS alone, the service stays on the address of the configuration, which is loopback.
func TestTheUnitWithTLSIsNotOpened(t *testing.T) {
	if drop := read(t, "systemd", "tls.conf"); strings.Contains(drop, "--api-addr") || strings.Contains(drop, "0.0.0.0") {
		t.Errorf("the drop-in has an address of its own\n%s", drop)
	}
	if config := read(t, "systemd", "sluice.yaml"); !strings.Contains(config, "addr: 127.0.0.1:") {
		t.Errorf("the service is not on loopback\n%s", config)
	}
}

// A variable of the section takes the place of the whole section of the files.
func TestAVariableReplacesTheSectionOfTheFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	config := write(t, dir, "sluice.yaml", "daemon: {rules: a.yml, input: {source: http}, api: {auth: {tokens: [{name: a, token_env: A_TOKEN, role: admin}]}}}\n")
	d := launchWith(t, dir, []string{"A_TOKEN=the secret of the file", "SLUICE_DAEMON__API__AUTH__ANONYMOUS_PERMISSIONS=[metrics:read]"}, "--config", config)
	d.awaitLog("API server listening")
	if got := d.do("GET", "/api/v1/status", "", "Authorization", "Bearer the secret of the file"); got.status != 401 {
		t.Errorf("the token of the file: got %d, want 401", got.status)
	}
	if got := d.get("/metrics"); got.status != 200 {
		t.Errorf("nobody: got %d, want 200", got.status)
	}
	d.stop()
}

// A Prometheus that shows a token over TLS finds the token and the authority in files.
func TestPrometheusUnderstandsTheConfigurationWithTLS(t *testing.T) {
	promtool := sigmatest.Tool(t, "promtool", "prometheus")
	dir, text := t.TempDir(), read(t, "prometheus", "authorization-tls.yml")
	cert, key := certstest.New(t, "ours").Issue("prometheus", time.Hour)
	write(t, dir, "alerts.yaml", read(t, "prometheus", "alerts.yaml"))
	write(t, dir, "sluice-token", "secret")
	text = strings.ReplaceAll(text, "sluice-ca.crt", cert)
	client := strings.NewReplacer("# cert_file: prometheus.crt", "cert_file: "+cert, "# key_file: prometheus.key", "key_file: "+key)
	for name, config := range map[string]string{"as it is": text, "with a client certificate": client.Replace(text)} {
		if got := finish(t, exec.Command(promtool, "check", "config", write(t, dir, "tls.yml", config)), ""); got.code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", name, got.code, got.stdout, got.stderr)
		}
	}
	for _, want := range []string{"scheme: https\n", "credentials_file: sluice-token\n", "server_name: "} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
}

// The certificate has the names of the Service, and those behind a forwarded port.
func TestTheCertificateHasTheNamesOfItsClients(t *testing.T) {
	var c struct {
		Spec struct {
			Names []string `yaml:"dnsNames"`
			IPs   []string `yaml:"ipAddresses"`
		} `yaml:"spec"`
	}
	if err := yaml.Unmarshal([]byte(read(t, "kubernetes", "tls", "certificate.yaml")), &c); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sluice.sluice.svc", "sluice.sluice.svc.cluster.local", "localhost"} {
		if !slices.Contains(c.Spec.Names, name) {
			t.Errorf("the certificate has the names %q, want %s, too", c.Spec.Names, name)
		}
	}
	if !slices.Equal(c.Spec.IPs, []string{"127.0.0.1"}) {
		t.Errorf("the certificate has the addresses %q", c.Spec.IPs)
	}
}

// The patch for tokens fits both workloads: it names the container of each.
func TestThePatchForTokensFitsBothWorkloads(t *testing.T) {
	for _, w := range workloads(t) {
		containers := w.Spec.Template.Spec.Containers
		if len(containers) != 1 || !strings.Contains(read(t, "kubernetes", "patches", "tokens.yaml"), "- name: "+containers[0].Name+"\n") {
			t.Errorf("%s: the patch names another container than %+v", w.Kind, containers)
		}
	}
}
