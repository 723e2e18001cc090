package command

import (
	"crypto/tls"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/trialcert"
)

// secureAPI is an api that serves TLS with certificates in the directory certs, and
// demands one of its clients.
func secureAPI(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s, err := trialcert.New(trialHosts, time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Write("certs", false); err != nil {
		t.Fatal(err)
	}
	return serveTLS(t, s.CA, filepath.Join("certs", trialcert.ServerCertFile), filepath.Join("certs", trialcert.ServerKeyFile), answer)
}

func serveTLS(t *testing.T, ca []byte, cert, key string, answer http.HandlerFunc) string {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(answer)
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: x509.NewCertPool(), MinVersion: tls.VersionTLS13}
	srv.TLS.ClientCAs.AppendCertsFromPEM(ca)
	srv.StartTLS()
	t.Cleanup(srv.Close)
	return srv.Listener.Addr().String()
}

// whole is a daemon as far as all client commands look.
func whole(t *testing.T, token string) http.HandlerFunc {
	t.Helper()
	return func(w http.ResponseWriter, r *http.Request) {
		if got := r.Header.Get("Authorization"); got != token {
			t.Errorf("%s: sent %q, want %q", r.URL, got, token)
		}
		text := map[string]string{
			"GET /api/v1/status": endedWell, "POST /api/v1/reload": `{"status":"reload_triggered"}`, "POST /api/v1/events": `{"accepted":2}`,
			"GET /api/v1/silences": twoSilences, "POST /api/v1/silences": `{"status":"created","id":"c"}`, "DELETE /api/v1/silences/a": `{"status":"deleted","id":"a"}`,
			"GET /api/v1/incidents": `{"count":1,"incidents":[` + oneIncidentJSON + `]}`, "GET /api/v1/incidents/x": oneIncidentJSON, "GET /api/v1/incidents/x/bundle": "{}\n",
			"GET /api/v1/sources": twoSources, "POST /api/v1/sources/resolve": `{"status":"resolve_triggered"}`, "DELETE /api/v1/sources/cache/x": `{"status":"invalidated","source_id":"x"}`,
		}[r.Method+" "+r.URL.Path]
		_, _ = io.WriteString(w, text)
	}
}

// clientCommands are all of them, with what they print on stderr when all is well.
var clientCommands = map[string]string{
	"engine status": "", "config reload --wait": "reload requested: AT/api/v1/reload\nreloaded\n",
	"dlq replay dead --restart --stage parse --no-stats": "",
	"silence list": "", "silence add rule=x --quiet": "", "silence expire a": "", "silence extend a --for 1h --quiet": "",
	"sources list": "", "sources resolve": "", "sources invalidate x": "",
	"incidents list": "", "incidents show x": "", "incidents export x": "", "engine incidents export x": "", "silence add --incident x --quiet": "",
}

func TestEveryClientCommandSpeaksTLS(t *testing.T) {
	inEmptyDir(t)
	t.Setenv("MINE", "hunter2")
	write(t, "dead", oneLetter)
	addr := secureAPI(t, func(w http.ResponseWriter, r *http.Request) {
		if r.TLS.PeerCertificates[0].Subject.CommonName != "Sluice trial client" {
			t.Errorf("asked by %s", r.TLS.PeerCertificates[0].Subject)
		}
		if r.URL.Path == "/api/v1/events" {
			_, _ = io.WriteString(w, `{"accepted":1}`)
			return
		}
		whole(t, "Bearer hunter2")(w, r)
	})
	for line, want := range clientCommands {
		args := append(strings.Fields(line), "--addr", addr, "--auth-token-env", "MINE", "--ca", "certs/ca.pem", "--cert", "certs/client.pem", "--key", "certs/client-key.pem")
		got := sluice(t, "", args...)
		got.wantCode(t, 0)
		if want := strings.ReplaceAll(want, "AT", "https://"+addr); got.err != want {
			t.Errorf("%s: stderr got %q, want %q", line, got.err, want)
		}
		got = sluice(t, "", args[:len(args)-4]...)
		got.wantCode(t, 3)
		got.wantErr(t, " https://"+addr+"/api/v1/", ": the daemon asks for a certificate of the client", "(name one with --cert, and its key with --key; it takes those of ")
		got = sluice(t, "", append(strings.Fields(line), "--addr", "https://"+addr)...)
		got.wantCode(t, 3)
		got.wantErr(t, ": the certificate of the daemon is signed by an unknown authority, ", "(--ca names the file with the certificate of its authority)")
		got = sluice(t, "", append(strings.Fields(line), "--addr", addr)...)
		got.wantCode(t, 3)
		got.wantErr(t, " http://"+addr+"/api/v1/", "the daemon serves TLS", "call it with https://, and name its authority with --ca)") // it answers 400, unless it closes first
	}
}

const oneLetter = `{"original_event":"x","error":"parse error","timestamp":"2026-03-01T10:00:00Z","stage":"parse"}` + "\n"

func TestEveryClientCommandSaysWhatToDoAboutATokenOrAnAddress(t *testing.T) {
	inEmptyDir(t)
	write(t, "dead", oneLetter)
	t.Setenv("MINE", "hunter2")
	t.Setenv("LINE", "hunter2\n")
	t.Setenv("SPACE", " hunter2")
	status := http.StatusUnauthorized
	addr := api(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, map[int]string{401: `{"error":"missing or invalid bearer token"}`, 403: `{"error":"token lacks required permission 'x:y'"}`}[status])
	})
	plain := api(t, whole(t, ""))
	for line := range clientCommands {
		for _, tc := range []struct {
			name   string
			status int
			args   string
			want   string
		}{
			{"no token", 401, "", "401 Unauthorized: missing or invalid bearer token (no token was sent: set SLUICE_API_TOKEN to one, or name another variable with --auth-token-env)"},
			{"a variable that is not set", 401, "--auth-token-env OTHER", "(no token was sent: set OTHER to one, or name another variable with --auth-token-env)"},
			{"an unknown token", 401, "--auth-token-env MINE", "(the daemon does not know the token in MINE: set it to one of the daemon's, or name another variable with --auth-token-env)"},
			{"a token that may not", 403, "--auth-token-env MINE", "403 Forbidden: token lacks required permission 'x:y' (the token in MINE may not do this: set it to one that may, or name another variable with --auth-token-env)"},
			{"a line break", 0, "--auth-token-env LINE", "sluice: the token in LINE ends with a line break, which belongs to the file that it was read from: set the variable to the token alone\n"},
			{"a blank", 0, "--auth-token-env SPACE", "sluice: the token in SPACE begins or ends with a blank: set the variable to the token alone\n"},
			{"the token for its variable", 0, "--auth-token-env hunter-2", "sluice: --auth-token-env: it takes the name of the variable that holds the token, not the token itself\n"},
			{"no name of a variable", 0, "--auth-token-env=", "sluice: --auth-token-env: the name of the variable is empty\n"},
			{"no address", 0, "--addr=", "sluice: --addr: the address is empty (host:port, http://host:port, https://host:port or unix:///path)\n"},
			{"no port", 0, "--addr db.example", "sluice: --addr: \"db.example\" has no port (such as db.example:9090)\n"},
			{"no path of a bundle", 0, "--ca=", "sluice: --ca: the path is empty\n"},
			{"no path of a certificate", 0, "--cert= --key=", "sluice: --cert: the path is empty\n"},
			{"no path of a key", 0, "--cert x --key=", "sluice: --key: the path is empty\n"},
			{"a certificate alone", 0, "--cert x", "sluice: --cert needs --key, the file of the certificate's private key\n"},
			{"files that are missing", 0, "--ca none --cert none --key none2", "sluice: --ca: none: no such file or directory\nsluice: --cert: none: no such file or directory\nsluice: --key: none2: no such file or directory\n"},
			{"files for plaintext", 0, "--addr http://" + plain + " --ca none.pem", "sluice: --ca: none.pem: no such file or directory\n"},
			{"nobody there", 0, "--addr unix://none", " over unix://none: dial unix none: connect: no such file or directory (is the daemon running? --addr says where)\n"},
			{"TLS against plaintext", 0, "--addr https://" + plain, ": what answers there does not speak TLS (if the daemon serves plaintext, call it with http:// and without --ca, --cert and --key)\n"},
		} {
			status = tc.status
			args := append(strings.Fields(line), strings.Fields(tc.args)...)
			if !strings.Contains(tc.args, "--addr") {
				args = append(args, "--addr", addr)
			}
			got := sluice(t, "", args...)
			if got.code != 3 || !strings.Contains(got.err, tc.want) || got.out != "" {
				t.Errorf("%s, %s: code %d, stdout %q, stderr\n%swant\n%s", line, tc.name, got.code, got.out, got.err, tc.want)
			}
			if strings.Contains(got.err, "hunter") {
				t.Errorf("%s, %s: a token is shown: %s", line, tc.name, got.err)
			}
		}
	}
}

func TestTheAddressIsThatOfTheFlagThenOfTheVariableThenOfTheConfiguration(t *testing.T) {
	inEmptyDir(t)
	daemon := func(name string) string {
		return api(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"status":"`+name+`"}`) })
	}
	flag, variable, file := daemon("flag"), daemon("variable"), daemon("file")
	write(t, "sluice.yaml", "daemon: {api: {addr: "+file+"}}")
	for _, tc := range []struct{ name, variable, flag, want string }{
		{"the flag", variable, flag, "flag"},
		{"the variable", variable, "", "variable"},
		{"the variable with blanks around", " " + variable + "\n", "", "variable"},
		{"a URL in the variable", "http://" + variable + "/", "", "variable"},
		{"a blank variable", " ", "", "file"},
		{"the configuration", "", "", "file"},
	} {
		t.Setenv("SLUICE_ADDR", tc.variable)
		args := []string{"engine", "status"}
		if tc.flag != "" {
			args = append(args, "--addr", tc.flag)
		}
		if got := sluice(t, "", args...); got.out != `{"status":"`+tc.want+`"}`+"\n" || got.err != "" {
			t.Errorf("%s: got %q with %q, want %s", tc.name, got.out, got.err, tc.want)
		}
	}
	t.Setenv("SLUICE_ADDR", "db.example")
	got := sluice(t, "", "engine", "status")
	got.wantCode(t, 3)
	got.wantErr(t, `sluice: SLUICE_ADDR: "db.example" has no port (such as db.example:9090)`)
	t.Setenv("SLUICE_ADDR", "")
	write(t, "sluice.yaml", "daemon: {api: {addr: '127.0.0.1:0'}}")
	got = sluice(t, "", "engine", "status")
	got.wantCode(t, 3)
	got.wantErr(t, `sluice: daemon.api.addr: "127.0.0.1:0": port 0 lets the daemon choose one, which the first lines of its log tell`)
}

// A variable that is set for other commands does not make a replay send lines.
func TestAReplayToASinkAsksNoDaemonOfTheEnvironment(t *testing.T) {
	inEmptyDir(t)
	write(t, "dead", deadLetters)
	t.Setenv("SLUICE_ADDR", api(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was asked for", r.URL) }))
	got := sluice(t, "", "dlq", "replay", "dead", "--to", "file://out")
	got.wantCode(t, 1)
	got.wantErr(t, "2 dead letters with lines left out: --addr sends them to a daemon")
}

func TestTheConfigurationOfADaemonWithTLSMeansHTTPS(t *testing.T) {
	inEmptyDir(t)
	addr := secureAPI(t, whole(t, ""))
	write(t, "sluice.yaml", "daemon: {api: {addr: '"+addr+"', tls: {cert: certs/server.pem, key: certs/server-key.pem}}}")
	got := sluice(t, "", "engine", "status", "--ca", "certs/ca.pem", "--cert", "certs/client.pem", "--key", "certs/client-key.pem")
	got.wantCode(t, 0)
	got = sluice(t, "", "engine", "status")
	got.wantCode(t, 3)
	got.wantErr(t, "GET https://"+addr+"/api/v1/status: the certificate of the daemon is signed by an unknown authority")
}

// A redirect would take the token elsewhere.
func TestRedirectsAreNotFollowed(t *testing.T) {
	inEmptyDir(t)
	write(t, "dead", oneLetter)
	t.Setenv("SLUICE_API_TOKEN", "hunter2")
	elsewhere := api(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was asked for", r.URL) })
	for _, code := range []int{301, 302, 303, 307, 308} {
		addr := api(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "http://"+elsewhere+"/x", code) })
		for line := range clientCommands {
			got := sluice(t, "", append(strings.Fields(line), "--addr", addr)...)
			got.wantCode(t, 3)
			got.wantErr(t, "(it leads to http://"+elsewhere+"/x, and redirects are not followed: name the daemon's own address with --addr)")
		}
	}
}

func TestATokenInClearIsWarnedOf(t *testing.T) {
	inEmptyDir(t)
	write(t, "dead", oneLetter)
	t.Setenv("SLUICE_API_TOKEN", "hunter2")
	for addr, warned := range map[string]bool{"192.0.2.1:9090": true, "127.0.0.1:9090": false, "unix://none": false, "https://192.0.2.1:9090": false} {
		got := sluice(t, "", "dlq", "replay", "dead", "--dry-run", "-q", "--addr", addr) // which connects to nothing
		want := ""
		if warned {
			want = "warning: the token in SLUICE_API_TOKEN goes to 192.0.2.1:9090 in clear: whoever can read what is sent there can use it; call the daemon with https://\n"
		}
		got.wantCode(t, 0)
		if got.err != want {
			t.Errorf("%s: stderr %q, want %q", addr, got.err, want)
		}
	}
}
