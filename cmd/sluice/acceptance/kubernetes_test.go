package acceptance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/timespan"
)

// manifest is what the tests read of an object.
type manifest struct {
	file     string
	Kind     string `yaml:"kind"`
	Metadata struct {
		Name      string            `yaml:"name"`
		Namespace string            `yaml:"namespace"`
		Labels    map[string]string `yaml:"labels"`
	} `yaml:"metadata"`
	Spec struct {
		Replicas     int       `yaml:"replicas"`
		ServiceName  string    `yaml:"serviceName"`
		ClusterIP    string    `yaml:"clusterIP"`
		Selector     yaml.Node `yaml:"selector"`
		PodSelector  yaml.Node `yaml:"podSelector"`
		MinAvailable int       `yaml:"minAvailable"`
		Ports        []struct {
			Port   int    `yaml:"port"`
			Target string `yaml:"targetPort"`
		} `yaml:"ports"`
		Template struct {
			Metadata struct {
				Labels map[string]string `yaml:"labels"`
			} `yaml:"metadata"`
			Spec pod `yaml:"spec"`
		} `yaml:"template"`
		Claims []struct {
			Metadata struct {
				Name string `yaml:"name"`
			} `yaml:"metadata"`
		} `yaml:"volumeClaimTemplates"`
	} `yaml:"spec"`
}

type pod struct {
	Grace      int             `yaml:"terminationGracePeriodSeconds"`
	Token      *bool           `yaml:"automountServiceAccountToken"`
	Security   securityContext `yaml:"securityContext"`
	Init       []container     `yaml:"initContainers"`
	Containers []container     `yaml:"containers"`
	Volumes    []struct {
		Name string `yaml:"name"`
	} `yaml:"volumes"`
}

type securityContext struct {
	NonRoot    bool  `yaml:"runAsNonRoot"`
	User       int   `yaml:"runAsUser"`
	FSGroup    int   `yaml:"fsGroup"`
	ReadOnly   bool  `yaml:"readOnlyRootFilesystem"`
	Escalation *bool `yaml:"allowPrivilegeEscalation"`
	Seccomp    struct {
		Type string `yaml:"type"`
	} `yaml:"seccompProfile"`
	Capabilities struct {
		Drop []string `yaml:"drop"`
		Add  []string `yaml:"add"`
	} `yaml:"capabilities"`
}

type container struct {
	Name string   `yaml:"name"`
	Args []string `yaml:"args"`
	Env  []struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	} `yaml:"env"`
	Ports []struct {
		Name   string `yaml:"name"`
		Number int    `yaml:"containerPort"`
	} `yaml:"ports"`
	Liveness  probe `yaml:"livenessProbe"`
	Readiness probe `yaml:"readinessProbe"`
	Startup   probe `yaml:"startupProbe"`
	Lifecycle struct {
		PreStop struct {
			Sleep struct {
				Seconds int `yaml:"seconds"`
			} `yaml:"sleep"`
		} `yaml:"preStop"`
	} `yaml:"lifecycle"`
	Security  securityContext `yaml:"securityContext"`
	Resources struct {
		Requests map[string]string `yaml:"requests"`
		Limits   map[string]string `yaml:"limits"`
	} `yaml:"resources"`
	Mounts []struct {
		Name     string `yaml:"name"`
		Path     string `yaml:"mountPath"`
		ReadOnly bool   `yaml:"readOnly"`
	} `yaml:"volumeMounts"`
}

type probe struct {
	HTTPGet struct {
		Path   string `yaml:"path"`
		Port   string `yaml:"port"`
		Scheme string `yaml:"scheme"`
	} `yaml:"httpGet"`
	Period    int `yaml:"periodSeconds"`
	Threshold int `yaml:"failureThreshold"`
}

func manifests(t *testing.T) (all []manifest) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "examples", "kubernetes", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no manifests (%v)", err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for doc := range bytes.SplitSeq(raw, []byte("\n---\n")) {
			o := manifest{file: filepath.Base(file)}
			if err := yaml.Unmarshal(doc, &o); err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			all = append(all, o)
		}
	}
	return all
}

func ofKind(all []manifest, kinds ...string) []manifest {
	return slices.DeleteFunc(slices.Clone(all), func(o manifest) bool { return !slices.Contains(kinds, o.Kind) })
}

// workloads are what makes pods.
func workloads(t *testing.T) []manifest {
	t.Helper()
	all := ofKind(manifests(t), "Deployment", "StatefulSet")
	if len(all) != 2 {
		t.Fatalf("%d workloads, want a Deployment and a StatefulSet", len(all))
	}
	return all
}

// selects reports whether a selector, in any of its forms, matches labels.
func selects(t *testing.T, n yaml.Node, labels map[string]string) bool {
	t.Helper()
	var s struct {
		Labels      map[string]string `yaml:"matchLabels"`
		Expressions []struct {
			Key      string   `yaml:"key"`
			Operator string   `yaml:"operator"`
			Values   []string `yaml:"values"`
		} `yaml:"matchExpressions"`
		Plain map[string]yaml.Node `yaml:",inline"` // of a Service
	}
	if err := n.Decode(&s); err != nil {
		t.Fatal(err)
	}
	for k, v := range s.Plain {
		if labels[k] != v.Value {
			return false
		}
	}
	for k, v := range s.Labels {
		if labels[k] != v {
			return false
		}
	}
	for _, e := range s.Expressions {
		if e.Operator != "In" || !slices.Contains(e.Values, labels[e.Key]) {
			return false
		}
	}
	return len(s.Plain)+len(s.Labels)+len(s.Expressions) > 0
}

// The types of the API know every field of the manifests.
func TestTheKubernetesAPIKnowsTheManifests(t *testing.T) {
	if watched {
		t.Skip("the tests without a detector for races run this")
	}
	files, err := filepath.Glob(filepath.Join(root, "examples", "kubernetes", "*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, filepath.Join(root, "examples", "kubernetes", "tls", "deployment.yaml"))
	for i := range files {
		if files[i], err = filepath.Abs(files[i]); err != nil {
			t.Fatal(err)
		}
	}
	reader := filepath.Join(t.TempDir(), "manifests")
	build := exec.Command("go", "build", "-o", reader, ".")
	build.Dir = filepath.Join("testdata", "manifests")
	if out, err := build.CombinedOutput(); err != nil {
		sigmatest.Need(t, !strings.Contains(string(out), "dial tcp"), "the types of the API cannot be had here:\n"+string(out))
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := exec.Command(reader, files...).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	fault := write(t, t.TempDir(), "a.yaml", "apiVersion: v1\nkind: Service\nspec: {port: 9090}\n")
	if out, err := exec.Command(reader, fault).CombinedOutput(); err == nil || !strings.Contains(string(out), `unknown field "spec.port"`) && !strings.Contains(string(out), `unknown field "port"`) {
		t.Errorf("a field that does not exist passes: %s", out)
	}
}

func TestServicesAndBudgetsSelectThePods(t *testing.T) {
	all := manifests(t)
	space := ofKind(all, "Namespace")
	if len(space) != 1 || space[0].Metadata.Labels["pod-security.kubernetes.io/enforce"] != "restricted" {
		t.Fatal("want one namespace, of restricted pods")
	}
	for _, o := range all {
		if o.Kind != "Namespace" && o.Metadata.Namespace != space[0].Metadata.Name {
			t.Errorf("%s %s is in namespace %q", o.Kind, o.Metadata.Name, o.Metadata.Namespace)
		}
	}
	for _, w := range workloads(t) {
		labels := w.Spec.Template.Metadata.Labels
		if !selects(t, w.Spec.Selector, labels) {
			t.Errorf("%s does not select its own pods", w.Kind)
		}
		var services, budgets, policies int
		for _, o := range all {
			switch {
			case o.Kind == "Service" && selects(t, o.Spec.Selector, labels):
				services++
				if o.file != w.file || o.Spec.Ports[0].Target != w.Spec.Template.Spec.Containers[0].Ports[0].Name {
					t.Errorf("Service %s leads nowhere", o.Metadata.Name)
				}
				if w.Kind == "StatefulSet" && (o.Metadata.Name != w.Spec.ServiceName || o.Spec.ClusterIP != "None") {
					t.Error("the StatefulSet has no Service that names its replicas")
				}
			case o.Kind == "PodDisruptionBudget" && selects(t, o.Spec.Selector, labels):
				budgets++
				if o.Spec.MinAvailable >= max(1, w.Spec.Replicas) {
					t.Errorf("with %d replicas, of which %d stay, no node can be drained", w.Spec.Replicas, o.Spec.MinAvailable)
				}
			case o.Kind == "NetworkPolicy" && selects(t, o.Spec.PodSelector, labels):
				policies++
			}
		}
		if services != 1 || budgets != 1 || policies != 1 {
			t.Errorf("%d Services, %d budgets and %d network policies select the pods of the %s, want one of each", services, budgets, policies, w.Kind)
		}
	}
}

func TestPodsAreRestricted(t *testing.T) {
	for _, w := range workloads(t) {
		p := w.Spec.Template.Spec
		if s := p.Security; !s.NonRoot || s.User != 65532 || s.Seccomp.Type != "RuntimeDefault" || p.Token == nil || *p.Token {
			t.Errorf("%s: the pod's context is %+v", w.Kind, s)
		}
		volumes := make(map[string]bool)
		for _, v := range p.Volumes {
			volumes[v.Name] = true
		}
		for _, c := range w.Spec.Claims {
			volumes[c.Metadata.Name] = true
		}
		for _, c := range append(slices.Clone(p.Init), p.Containers...) {
			s := c.Security
			if !s.ReadOnly || s.Escalation == nil || *s.Escalation || !slices.Equal(s.Capabilities.Drop, []string{"ALL"}) || s.Capabilities.Add != nil {
				t.Errorf("%s: the context of container %s is %+v", w.Kind, c.Name, s)
			}
			if c.Resources.Limits["memory"] == "" || c.Resources.Requests["memory"] == "" || c.Resources.Requests["cpu"] == "" {
				t.Errorf("%s: container %s does not say what it needs", w.Kind, c.Name)
			}
			for _, m := range c.Mounts {
				if !volumes[m.Name] {
					t.Errorf("%s: container %s mounts %s, which does not exist", w.Kind, c.Name, m.Name)
				}
			}
		}
	}
}

// A failed reload turns /readyz while the old rules serve, so only the start waits for it.
func TestProbesSurviveAFailedReload(t *testing.T) {
	for _, w := range workloads(t) {
		c := w.Spec.Template.Spec.Containers[0]
		for _, p := range []struct {
			name   string
			probe  probe
			path   string
			period int
		}{
			{"startup", c.Startup, "/readyz", 5}, {"readiness", c.Readiness, "/healthz", 5}, {"liveness", c.Liveness, "/healthz", 10},
		} {
			if got := p.probe; got.HTTPGet.Path != p.path || got.Period != p.period || got.HTTPGet.Port != c.Ports[0].Name {
				t.Errorf("%s: the %s probe is %+v, want %s every %d s", w.Kind, p.name, got, p.path, p.period)
			}
		}
		if c.Startup.Threshold*c.Startup.Period < 60 {
			t.Errorf("%s: a start may take %d s only", w.Kind, c.Startup.Threshold*c.Startup.Period)
		}
	}
	dir := t.TempDir()
	file := write(t, dir, "a.yml", rule("A", "evil"))
	d := start(t, "-r", dir, "--input", "http")
	replace(t, dir, "a.yml", "title: A\ndetection: broken\n")
	d.await("a failed reload", func() bool { return d.metric("svc_reloads_failed_total") > 0 })
	if ready, alive := d.get("/readyz").status, d.get("/healthz").status; ready != 503 || alive != 200 {
		t.Errorf("after a failed reload of %s /readyz answers %d and /healthz %d, want 503 and 200", file, ready, alive)
	}
	d.push(event("evil"))
	if got, want := d.stdout.String(), resultLine("A", "evil")+"\n"; got != want {
		t.Errorf("the old rules found %q, want %q", got, want)
	}
}

// The patch has the daemon of the Deployment ask for the tokens that it names.
func TestThePatchForTokens(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join(root, "examples", "kubernetes", "patches", "tokens.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var patch struct {
		Spec struct {
			Template struct {
				Spec struct {
					Containers []struct {
						Name string `yaml:"name"`
						Env  []struct {
							Name  string `yaml:"name"`
							Value string `yaml:"value"`
							From  struct {
								Secret struct {
									Name string `yaml:"name"`
									Key  string `yaml:"key"`
								} `yaml:"secretKeyRef"`
							} `yaml:"valueFrom"`
						} `yaml:"env"`
					} `yaml:"containers"`
				} `yaml:"spec"`
			} `yaml:"template"`
		} `yaml:"spec"`
	}
	dec := yaml.NewDecoder(bytes.NewReader(raw))
	dec.KnownFields(true)
	if err := dec.Decode(&patch); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	container := patch.Spec.Template.Spec.Containers[0]
	if want := workloads(t)[0].Spec.Template.Spec.Containers[0].Name; container.Name != want {
		t.Errorf("it patches the container %q, want %q", container.Name, want)
	}
	var env []string
	for _, e := range container.Env {
		value := e.Value
		if secret := e.From.Secret; secret.Name != "" {
			value = "the secret of " + secret.Key
			if !strings.Contains(string(page), "secret generic "+secret.Name) || !strings.Contains(string(page), "--from-literal="+secret.Key+"=") {
				t.Errorf("the page does not make the key %s of the Secret %s", secret.Key, secret.Name)
			}
		}
		env = append(env, e.Name+"="+value)
	}
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	d := launchWith(t, dir, env, "-r", dir, "--input", "http")
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
	if got := d.get("/readyz"); got.status != 200 {
		t.Errorf("a probe: got %d, want 200", got.status)
	}
	d.stop()
}

func bytesOf(t *testing.T, text string) int64 {
	t.Helper()
	if strings.HasSuffix(text, "i") { // as Kubernetes writes it
		text += "B"
	}
	size, err := timespan.ParseBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	return int64(size)
}

func TestThePodsFitTheProgram(t *testing.T) {
	for _, w := range workloads(t) {
		t.Run(w.Kind, func(t *testing.T) {
			p := w.Spec.Template.Spec
			c := p.Containers[0]
			got := sluice(t, "", append(c.Args, "--dry-run")...)
			if got.code != 0 || strings.Contains(got.stderr, "warning") {
				t.Fatalf("exit code %d:\n%s", got.code, got.stderr)
			}
			var settings struct {
				Daemon struct {
					Rules []string `yaml:"rules"`
					API   struct {
						Addr string `yaml:"addr"`
					} `yaml:"api"`
					Output struct {
						Drain int `yaml:"drain_timeout"`
					} `yaml:"output"`
					Correlation struct {
						Bytes string `yaml:"max_state_bytes"`
					} `yaml:"correlation"`
					State struct {
						DB string `yaml:"db"`
					} `yaml:"state"`
				} `yaml:"daemon"`
			}
			if err := yaml.Unmarshal([]byte(got.stdout), &settings); err != nil {
				t.Fatal(err)
			}
			d := settings.Daemon
			if want := ":" + strconv.Itoa(c.Ports[0].Number); !strings.HasSuffix(d.API.Addr, want) {
				t.Errorf("the daemon listens on %s, the container opens %s", d.API.Addr, want)
			}
			if want := d.Output.Drain + 15 + c.Lifecycle.PreStop.Sleep.Seconds; p.Grace < want {
				t.Errorf("grace period %d s, want at least %d", p.Grace, want)
			}
			limit, kept := bytesOf(t, c.Resources.Limits["memory"]), int64(0)
			for _, e := range c.Env {
				if e.Name == "GOMEMLIMIT" {
					kept = bytesOf(t, e.Value)
				}
			}
			if kept == 0 || kept > limit*9/10 {
				t.Errorf("GOMEMLIMIT is %d of %d bytes, want nine tenths at most", kept, limit)
			}
			for _, m := range c.Mounts {
				if under := strings.HasPrefix(d.State.DB, m.Path+"/"); m.ReadOnly && under {
					t.Errorf("the state is in %s, which is read-only", d.State.DB)
				}
			}
			if w.Kind == "StatefulSet" {
				if state := bytesOf(t, d.Correlation.Bytes); 2*state > kept {
					t.Errorf("windows may take twice %d bytes, which is more than %d", state, kept)
				}
				if p.Security.FSGroup != p.Security.User || !strings.HasPrefix(d.State.DB, "/var/lib/sluice/") {
					t.Errorf("the user %d cannot write the state in %s", p.Security.User, d.State.DB)
				}
			}
			serveAsIn(t, c.Args, d.Rules[0], d.State.DB)
		})
	}
}

// serveAsIn runs the daemon as in a pod, with the directories in another place. Rules that
// are reached over a link change as git-sync changes them: the link moves.
func serveAsIn(t *testing.T, args []string, rules, state string) {
	t.Helper()
	dir := t.TempDir()
	link := filepath.Join(dir, "rules", "current")
	checkout := func(n int, rules string) {
		t.Helper()
		write(t, dir, fmt.Sprintf("rules/.worktrees/%d/rules/a.yml", n), rules)
		if err := os.Symlink(filepath.Join(".worktrees", strconv.Itoa(n)), link+".new"); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link+".new", link); err != nil {
			t.Fatal(err)
		}
	}
	checkout(1, rule("A", "evil"))
	args = slices.Clone(args[2:])
	linked := strings.HasPrefix(rules, "/rules/current/")
	for i := range args {
		pairs := []string{"0.0.0.0:9090", "127.0.0.1:0", "=" + rules, "=" + filepath.Join(link, "rules")}
		if state != "" {
			pairs = append(pairs, state, filepath.Join(dir, "state"))
		}
		args[i] = strings.NewReplacer(pairs...).Replace(args[i])
	}
	d := start(t, args...)
	d.push(event("evil"))
	want := resultLine("A", "evil") + "\n"
	if linked {
		checkout(2, rule("A", "evil")+"---\n"+rule("B", "worse"))
		d.await("the other rules", func() bool { return strings.Contains(d.get("/api/v1/rules").body, `"detection_rules":2,`) })
		d.push(event("worse"))
		want += resultLine("B", "worse") + "\n"
	}
	d.stop()
	if got := d.stdout.String(); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
}
