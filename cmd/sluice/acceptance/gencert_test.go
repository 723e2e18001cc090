package acceptance

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
)

// The commands that gen-cert prints work as they are: those of the daemon, where this build
// serves TLS, and those of its clients.
func TestTheCommandsOfTrialCertificatesWork(t *testing.T) {
	sigmatest.Tool(t, "curl", "curl")
	for _, args := range [][]string{nil, {"-o", "my certs: it's", "--host", "127.0.0.1"}} {
		dir := t.TempDir()
		write(t, dir, "rules/a.yml", rule("A", "evil"))
		run := inDir(t, dir)
		got := run(append([]string{binary, "config", "gen-cert"}, args...)...)
		if got.code != 0 || !strings.Contains(got.stderr, "They are for trying TLS out.") {
			t.Fatalf("%q: code %d: %s", args, got.code, got.stderr)
		}
		addr, asked := "", 0
		for _, line := range wholeLines(got.stdout) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			if flags, ok := strings.CutPrefix(line, "sluice engine daemon "); ok {
				all := shellWords(t, dir, strings.ReplaceAll(flags, documented, "127.0.0.1:0"))
				d := startIn(t, dir, all...)
				addr = d.addr
				defer d.stop()
				continue
			}
			if addr == "" { // a build whose API has no TLS
				certs := "certs"
				if args != nil {
					certs = args[1]
				}
				addr = demanding(t, filepath.Join(dir, certs))
			}
			_, port, _ := strings.Cut(addr, ":")
			answer := run("sh", "-e", "-c", strings.ReplaceAll(line, ":9090", ":"+port))
			if answer.code != 0 || !strings.Contains(answer.stdout, `"status":"running"`) {
				t.Errorf("%s: code %d, stdout %q, stderr %q", line, answer.code, answer.stdout, answer.stderr)
			}
			asked++
		}
		if asked != 2 {
			t.Errorf("%q: %d clients, want 2:\n%s", args, asked, got.stdout)
		}
		if args == nil {
			refusals(t, run, addr)
		}
	}
}

// refusals are what clients hear of a server that demands their certificate.
func refusals(t *testing.T, run func(...string) outcome, addr string) {
	t.Helper()
	if got := run(binary, "config", "gen-cert", "-o", "others"); got.code != 0 {
		t.Fatal(got.stderr)
	}
	for _, tc := range []struct{ name, args, want string }{
		{"no authority", "--addr https://" + addr, ": the certificate of the daemon is signed by an unknown authority, "},
		{"another authority", "--addr " + addr + " --ca others/ca.pem", "(that authority is not in others/ca.pem; --ca names the file with its certificate)"},
		{"no certificate", "--addr " + addr + " --ca certs/ca.pem", ": the daemon asks for a certificate of the client: certificate required (name one with --cert, and its key with --key; it takes those of "},
		{
			"a certificate of another authority", "--addr " + addr + " --ca certs/ca.pem --cert others/client.pem --key others/client-key.pem",
			": the daemon does not take the certificate in others/client.pem: unknown certificate authority (it must be valid, be for clients, and be signed by an authority that the daemon knows; it takes those of ",
		},
		{"plaintext", "--addr http://" + addr, "400 Bad Request"},
		{"plaintext has a way out", "--addr http://" + addr, "https"},
	} {
		got := run(append([]string{binary, "engine", "status"}, strings.Fields(tc.args)...)...)
		if got.code != 3 || !strings.Contains(got.stderr, tc.want) || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("%s: code %d, stderr %s, want %s", tc.name, got.code, got.stderr, tc.want)
		}
	}
}

// inDir runs programs in a directory, from which sluice is found.
func inDir(t *testing.T, dir string) func(args ...string) outcome {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(binary, filepath.Join(bin, "sluice")); err != nil {
		t.Fatal(err)
	}
	return func(args ...string) outcome {
		t.Helper()
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = dir, append(clean(dir), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
		return finish(t, cmd, "")
	}
}

// shellWords splits a command line as a shell does.
func shellWords(t *testing.T, dir, line string) []string {
	t.Helper()
	cmd := exec.Command("sh", "-c", `for w in `+line+`; do printf '%s\n' "$w"; done`)
	cmd.Dir = dir
	got := finish(t, cmd, "")
	if got.code != 0 {
		t.Fatal(got.stderr)
	}
	return wholeLines(got.stdout)
}

// demanding serves TLS with the certificates of a directory, and answers only clients
// of its authority.
func demanding(t *testing.T, dir string) (addr string) {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, "server.pem"), filepath.Join(dir, "server-key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, `{"status":"running","path":"`+r.URL.Path+`"}`)
	}))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}
	srv.TLS.ClientCAs.AppendCertsFromPEM(ca)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// A daemon without TLS is told from one with it.
func TestTLSAgainstAPlaintextDaemonIsTold(t *testing.T) {
	d := start(t, "-r", write(t, t.TempDir(), "a.yml", rule("A", "evil")), "--input", "http")
	got := sluice(t, "", "engine", "status", "--addr", "https://"+d.addr)
	want := "sluice: GET https://" + d.addr + "/api/v1/status: what answers there does not speak TLS (if the daemon serves plaintext, call it with http:// and without --ca, --cert and --key)\n"
	if got.code != 3 || got.stderr != want {
		t.Errorf("code %d, stderr %s, want %s", got.code, got.stderr, want)
	}
	d.stop()
}
