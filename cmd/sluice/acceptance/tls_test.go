package acceptance

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

const year = 365 * 24 * time.Hour

// startTLS runs a daemon with rules and a certificate, which clients of the harness trust.
func startTLS(t *testing.T, ours *certstest.Authority, cert, key string, args ...string) *daemon {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	args = append([]string{"-r", "rules", "--input", "http", "--tls-cert", cert, "--tls-key", key}, args...)
	d := startIn(t, dir, args...)
	d.tls = &tls.Config{RootCAs: ours.Pool}
	return d
}

// handshake makes one, and returns the certificate of the server. The connection stays
// open until the end of the test.
func (d *daemon) handshake() (name string, c *tls.Conn) {
	d.t.Helper()
	c, err := tls.Dial("tcp", d.addr, d.tls)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { c.Close() })
	return c.ConnectionState().PeerCertificates[0].Subject.CommonName, c
}

// serves waits until handshakes show a certificate with this name.
func (d *daemon) serves(name string) {
	d.t.Helper()
	d.await("certificate "+name, func() bool {
		got, c := d.handshake()
		c.Close()
		return got == name
	})
}

// passes waits for a reload beyond the first n, and returns how many there were.
func (d *daemon) passes(n float64) float64 {
	d.t.Helper()
	d.await("reload", func() bool { return d.metric("svc_reloads_total") > n && !*d.reloads().Pending })
	return d.metric("svc_reloads_total")
}

func TestTheAPIOverTLS(t *testing.T) {
	ours := certstest.New(t, "ours")
	cert, key := ours.Issue("localhost", year)
	d := startTLS(t, ours, cert, key)
	d.push(event("evil"), event("good"))
	if got := d.stdout.String(); got != resultLine("A", "evil")+"\n" {
		t.Errorf("results %q", got)
	}
	if left := d.metric("svc_tls_certificate_expiry_seconds"); left > 31_536_000 || left < 31_536_000-patience.Seconds()*5 {
		t.Errorf("%f seconds are left, want nearly 31536000", left)
	}
	if strings.Contains(d.stderr.String(), "certificate of the API") {
		t.Errorf("a certificate of a year is warned of:\n%s", d.stderr)
	}
	t.Run("openssl", func(t *testing.T) {
		openssl := sigmatest.Tool(t, "openssl", "openssl")
		for _, tc := range []struct {
			name, args string
			want       []string
		}{
			{"HTTP/2 and TLS 1.3", "-alpn h2,http/1.1", []string{"ALPN protocol: h2", "TLSv1.3", "Verify return code: 0 (ok)"}},
			{"HTTP/1.1", "-alpn http/1.1", []string{"ALPN protocol: http/1.1"}},
			{"no ALPN", "", []string{"No ALPN negotiated", "Verify return code: 0 (ok)"}},
			{"TLS 1.2", "-tls1_2", []string{"alert protocol version"}},
		} {
			args := append([]string{"s_client", "-connect", d.addr, "-CAfile", ours.File}, strings.Fields(tc.args)...)
			got := finish(t, exec.Command(openssl, args...), "")
			for _, want := range tc.want {
				if !strings.Contains(got.stdout+got.stderr, want) {
					t.Errorf("%s: no %q in\n%s%s", tc.name, want, got.stdout, got.stderr)
				}
			}
		}
	})
	t.Run("curl", func(t *testing.T) {
		curl := sigmatest.Tool(t, "curl", "curl")
		run := func(args ...string) outcome {
			return finish(t, exec.Command(curl, append([]string{"-sS", "-w", " %{http_code}"}, args...)...), "")
		}
		if got := run("--cacert", ours.File, "https://"+d.addr+"/healthz"); got.code != 0 || !strings.HasSuffix(got.stdout, " 200") {
			t.Errorf("with the authority: %d, %s%s", got.code, got.stdout, got.stderr)
		}
		if got := run("--cacert", ours.File, "--data-binary", event("evil")+"\n", "https://"+d.addr+"/api/v1/events?commit=true"); !strings.HasPrefix(got.stdout, `{"accepted":1}`) {
			t.Errorf("ingest: %d, %s%s", got.code, got.stdout, got.stderr)
		}
		if got := run("https://" + d.addr + "/healthz"); got.code != 60 {
			t.Errorf("without the authority: %d, %s%s, want that the certificate is refused", got.code, got.stdout, got.stderr)
		}
		if got := run("http://" + d.addr + "/healthz"); got.code != 0 || !strings.Contains(got.stdout, `{"error":"client sent an HTTP request to an HTTPS server","hint":"use https://"}`) || !strings.HasSuffix(got.stdout, " 400") {
			t.Errorf("in clear: %d, %s%s", got.code, got.stdout, got.stderr)
		}
	})
	d.stop()
}

func TestFailedHandshakesAreNoConnections(t *testing.T) {
	ours := certstest.New(t, "ours")
	cert, key := ours.Issue("localhost", year)
	d := startTLS(t, ours, cert, key)
	if c, err := tls.Dial("tcp", d.addr, &tls.Config{}); err == nil {
		c.Close()
		t.Fatal("an unknown authority is trusted")
	}
	if failed := d.awaitLog("TLS handshake failed"); !strings.HasPrefix(fmt.Sprint(failed["peer"]), "127.0.0.1:") {
		t.Errorf("logged %v, want the peer", failed)
	}
	const active = "svc_tls_active_connections"
	d.await("only the scrape's own connection", func() bool { return d.metric(active) == 1 })
	_, c := d.handshake()
	d.await("another connection", func() bool { return d.metric(active) == 2 })
	c.Close()
	d.await("its end", func() bool { return d.metric(active) == 1 })
}

func TestNothingIsExemptFromClientCertificates(t *testing.T) {
	ours, other := certstest.New(t, "ours"), certstest.New(t, "other")
	cert, key := ours.Issue("localhost", year)
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	d := startIn(t, dir, "-r", "rules", "--input", "http", "--tls-cert", cert, "--tls-key", key, "--tls-client-ca", ours.File, "--tls-min-version", "TLS1.2")
	for _, tc := range []struct {
		name string
		pair []tls.Certificate
		ok   bool
	}{
		{"ours", []tls.Certificate{ours.Pair("agent", time.Hour)}, true},
		{"none", nil, false},
		{"another authority's", []tls.Certificate{other.Pair("agent", time.Hour)}, false},
		{"one that has expired", []tls.Certificate{ours.Pair("agent", -time.Minute)}, false},
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: ours.Pool, Certificates: tc.pair, MaxVersion: version}}}
			for _, path := range []string{"/healthz", "/readyz", "/metrics", "/api/v1/status"} {
				resp, err := client.Get("https://" + d.addr + path)
				if (err == nil) != tc.ok {
					t.Errorf("%s, %s, %s: %v", tc.name, tls.VersionName(version), path, err)
				}
				if err == nil {
					resp.Body.Close()
				}
			}
			client.CloseIdleConnections()
		}
	}
}

// mounted lays files out as a mounted secret has them, and returns a function that swaps
// all of them at once.
func mounted(t *testing.T, dir string) (swap func(cert, key string)) {
	t.Helper()
	n := 0
	swap = func(cert, key string) {
		t.Helper()
		n++
		version := fmt.Sprintf("..version%d", n)
		for from, name := range map[string]string{cert: "tls.crt", key: "tls.key"} {
			raw, err := os.ReadFile(from)
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, filepath.Join(version, name), string(raw))
		}
		link := filepath.Join(dir, "..data_tmp")
		if err := os.Symlink(version, link); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(link, filepath.Join(dir, "..data")); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"tls.crt", "tls.key"} {
		if err := os.Symlink(filepath.Join("..data", name), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return swap
}

func TestCertificatesAreRenewedWhileTheyAreUsed(t *testing.T) {
	ours := certstest.New(t, "ours")
	secret := t.TempDir()
	swap := mounted(t, secret)
	swap(ours.Issue("first", time.Hour))
	d := startTLS(t, ours, filepath.Join(secret, "tls.crt"), filepath.Join(secret, "tls.key"))
	d.awaitLog("the certificate of the API expires in less than a day")
	d.serves("first")

	// An upload that began under the first certificate.
	_, c := d.handshake()
	io.WriteString(c, "POST /api/v1/events?commit=true HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
	line := func() { text := event("evil") + "\n"; fmt.Fprintf(c, "%x\r\n%s\r\n", len(text), text) }
	line()

	n := d.metric("svc_reloads_total")
	swap(ours.Issue("second", year))
	n = d.passes(n)
	d.serves("second")
	if left := d.metric("svc_tls_certificate_expiry_seconds"); left > 31_536_000 || left < 31_536_000-5*patience.Seconds() {
		t.Errorf("%f seconds are left, want nearly 31536000", left)
	}
	line()
	io.WriteString(c, "0\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil || string(body) != `{"accepted":2}`+"\n" {
		t.Errorf("the upload ended with %q, %v, want two lines", body, err)
	}

	// Files that are no pair: what was served is served on, and readiness stays.
	failed := d.metric("svc_reloads_failed_total")
	cert, _ := ours.Issue("third", year)
	_, key := ours.Issue("another", year)
	swap(cert, key)
	d.passes(n)
	if got := d.metric("svc_reloads_failed_total"); got != failed+1 {
		t.Errorf("%v reloads failed, want one", got-failed)
	}
	if r := d.reloads(); r.Last.OK || r.Last.Error == nil || !strings.Contains(*r.Last.Error, "tls: "+filepath.Join(secret, "tls.key")+": is not the key of the certificate") {
		t.Errorf("last reload %+v, want an error that names the key", r.Last)
	}
	if got := d.get("/readyz").status; got != 200 {
		t.Errorf("readiness %d, want 200", got)
	}
	d.serves("second")

	// Rules that are broken do not keep a certificate from being renewed.
	swap(ours.Issue("fourth", year))
	replace(t, d.cmd.Dir, "rules/b.yml", "title: B\ndetection: {sel: {C|contans: x}, condition: sel}\n")
	d.serves("fourth")
	d.await("the failed rules", func() bool { return d.get("/readyz").status == 503 })

	// A certificate that is broken does not keep rules from being renewed.
	certstest.Write(t, filepath.Join(secret, "..data", "tls.crt"), []byte("broken"))
	replace(t, d.cmd.Dir, "rules/b.yml", rule("B", "good"))
	d.await("the new rules", func() bool { return d.get("/readyz").status == 200 })
	d.serves("fourth")
	d.push(event("good"))
	if got := d.stdout.String(); !strings.Contains(got, resultLine("B", "good")) {
		t.Errorf("results %q, want one of the new rule", got)
	}

	// A request reads the files again, too.
	swap(ours.Issue("fifth", 10*24*time.Hour+time.Hour))
	d.do("POST", "/api/v1/reload", "")
	d.serves("fifth")
	d.awaitLog("the certificate of the API expires in 10 days")
	d.stop()
}

func TestFilesOfTLSThatRefuseTheStart(t *testing.T) {
	plainly(t)
	ours := certstest.New(t, "ours")
	cert, key := ours.Issue("localhost", year)
	_, other := ours.Issue("other", year)
	dir := t.TempDir()
	rules := filepath.Dir(write(t, dir, "rules/a.yml", rule("A", "evil")))
	empty, garbage := write(t, dir, "empty.pem", ""), write(t, dir, "garbage.pem", "no PEM")
	encrypted := write(t, dir, "encrypted.key", string(certstest.Block("ENCRYPTED PRIVATE KEY", []byte("x"))))
	const initialize = "Failed to initialize TLS: "
	for _, tc := range []struct {
		name, args string
		env        string
		want       []string
	}{
		{"a missing certificate", "--tls-cert /missing --tls-key " + key, "", []string{initialize + "/missing: no such file or directory"}},
		{"a missing key", "--tls-cert " + cert + " --tls-key /missing", "", []string{initialize + "/missing: no such file or directory"}},
		{"a key of another certificate", "--tls-cert " + cert + " --tls-key " + other, "", []string{initialize + other + ": is not the key of the certificate " + cert}},
		{"an empty certificate", "--tls-cert " + empty + " --tls-key " + key, "", []string{initialize + empty + ": the file is empty"}},
		{"an empty key", "--tls-cert " + cert + " --tls-key " + empty, "", []string{initialize + empty + ": the file is empty"}},
		{"a certificate that is no PEM", "--tls-cert " + garbage + " --tls-key " + key, "", []string{initialize + garbage + ": the file holds nothing in PEM"}},
		{"an encrypted key", "--tls-cert " + cert + " --tls-key " + encrypted, "", []string{initialize + encrypted + ": the key is encrypted, and encrypted keys are not supported", "openssl pkey -in " + encrypted}},
		{"a bundle that is missing", "--tls-cert " + cert + " --tls-key " + key + " --tls-client-ca /missing", "", []string{initialize + "/missing: no such file"}},
		{"a bundle without certificates", "--tls-cert " + cert + " --tls-key " + key + " --tls-client-ca " + garbage, "", []string{initialize + garbage}},
		{"a certificate alone", "--tls-cert " + cert, "", []string{"belong together"}},
		{"a key alone", "--tls-key " + key, "", []string{"belong together"}},
		{"a bundle alone", "--tls-client-ca " + ours.File, "", []string{"needs a certificate"}},
		{"a password", "--tls-cert " + cert + " --tls-key " + key + " --tls-key-password x", "", []string{"encrypted keys are not supported", "openssl pkey -in " + key}},
		{"a password in a variable", "--tls-cert " + cert + " --tls-key " + key, "SLUICE_TLS_KEY_PASSWORD=hunter2", []string{"encrypted keys are not supported"}},
		{"an old version", "--tls-cert " + cert + " --tls-key " + key + " --tls-min-version 1.1", "", []string{`"1.1" is not allowed (1.2, 1.3)`}},
		{"a socket file, before its files are read", "--api-addr unix:///run/s.sock --tls-cert /missing --tls-key /missing", "", []string{"cannot be combined with a unix://"}},
		{"plaintext on every address", "--api-addr 0.0.0.0:0", "", []string{"refusing to bind plaintext", "--allow-plaintext", "--tls-cert"}},
		{"plaintext on every address of IPv6", "--api-addr [::]:0", "", []string{"refusing to bind plaintext"}},
		{"an address without port", "--api-addr 127.0.0.1 --tls-cert " + cert + " --tls-key " + key, "", []string{"127.0.0.1", "neither a literal IP address with a port"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			args := append([]string{"engine", "daemon", "-r", rules}, strings.Fields(tc.args)...)
			if !strings.Contains(tc.args, "--api-addr") {
				args = append(args, "--api-addr", "127.0.0.1:0")
			}
			cmd := command(t, args...)
			if tc.env != "" {
				cmd.Env = append(cmd.Env, tc.env)
			}
			got := finish(t, cmd, "")
			if got.code != 3 || strings.Contains(got.stderr, "probes listening") {
				t.Errorf("exit code %d, want 3 before anything listens:\n%s", got.code, got.stderr)
			}
			for _, want := range tc.want {
				if !strings.Contains(got.stderr, want) {
					t.Errorf("no %q in\n%s", want, got.stderr)
				}
			}
			if strings.Contains(got.stderr, "hunter2") {
				t.Errorf("the password is shown:\n%s", got.stderr)
			}
		})
	}
	t.Run("validation finds them, too", func(t *testing.T) {
		file := write(t, dir, "sluice.yaml", "daemon: {rules: "+rules+", api: {addr: '127.0.0.1:0', tls: {cert: "+cert+", key: /missing}}}\n")
		if got := sluice(t, "", "config", "validate", "-c", file); got.code != 3 || !strings.Contains(got.stdout+got.stderr, initialize+"/missing: no such file") {
			t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
		}
	})
	t.Run("a certificate that has expired only warns", func(t *testing.T) {
		past, pastKey := ours.Issue("localhost", -time.Hour)
		file := write(t, dir, "past.yaml", "daemon: {rules: "+rules+", api: {addr: '127.0.0.1:0', tls: {cert: "+past+", key: "+pastKey+", client_ca: "+past+"}}}\n")
		if got := sluice(t, "", "config", "validate", "-c", file); got.code != 0 || !strings.Contains(got.stdout+got.stderr, "daemon.api.tls.cert: the certificate of the API has expired") ||
			!strings.Contains(got.stdout+got.stderr, `daemon.api.tls.client_ca: the root "CN=localhost" of client certificates has expired`) {
			t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
		}
		d := startIn(t, dir, "-r", "rules", "--input", "http", "--tls-cert", past, "--tls-key", pastKey)
		d.awaitLog("the certificate of the API has expired")
		d.stop()
	})
}

// Probes are answered while hundreds of handshakes hang.
func TestHandshakesThatHangHoldNobodyUp(t *testing.T) {
	ours := certstest.New(t, "ours")
	cert, key := ours.Issue("localhost", year)
	d := startTLS(t, ours, cert, key)
	const hanging = 300
	for range hanging {
		c, err := net.Dial("tcp", d.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		io.WriteString(c, "\x16\x03\x01\x02\x00\x01")
	}
	for range 20 {
		if got := d.get("/healthz").status; got != 200 {
			t.Fatalf("a probe got %d", got)
		}
	}
	d.push(event("evil"))
	d.stop()
}

func TestABuildWithoutTLS(t *testing.T) {
	left := without(t, "no_tls")
	for _, tc := range []struct {
		name, keys, args string
		code             int
		want             string
	}{
		{"a flag", "", "--tls-cert x --tls-key y", 3, "unknown flag --tls-cert"},
		{"the flag that allows plaintext", "", "--allow-plaintext", 3, "unknown flag --allow-plaintext"},
		{"keys of a certificate", "tls: {cert: /c, key: /k}", "", 3, "daemon.api.tls.cert: not in this build (TLS)"},
		{"the key of a key alone", "tls: {key: /k}", "", 3, "daemon.api.tls.key: not in this build (TLS)"},
		{"a bundle for clients", "tls: {client_ca: /c}", "", 3, "daemon.api.tls.client_ca: not in this build (TLS)"},
		{"a setting without effect", "tls: {min_version: '1.2'}", "", 0, "daemon.api.tls.min_version"},
		{"plaintext on every address", "", "--api-addr 0.0.0.0:0", 0, "probes listening"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := command(t, append([]string{"engine", "daemon", "--config", "sluice.yaml"}, strings.Fields(tc.args)...)...)
			cmd.Path = left
			write(t, cmd.Dir, "r/a.yml", rule("A", "evil"))
			addr := "addr: '127.0.0.1:0'"
			if tc.keys != "" {
				addr += ", "
			}
			write(t, cmd.Dir, "sluice.yaml", "daemon: {rules: r, api: {"+addr+tc.keys+"}}\n")
			if got := finish(t, cmd, event("evil")+"\n"); got.code != tc.code || !strings.Contains(got.stderr, tc.want) {
				t.Errorf("exit code %d, want %d and %q:\n%s", got.code, tc.code, tc.want, got.stderr)
			}
		})
	}
	help := command(t, "engine", "daemon", "--help")
	help.Path = left
	if got := finish(t, help, ""); strings.Contains(got.stdout, "--tls-") || strings.Contains(got.stdout, "plaintext") {
		t.Errorf("help speaks of TLS:\n%s", got.stdout)
	}
}
