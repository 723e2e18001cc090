package acceptance

import (
	"bufio"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/http/api"
)

// Secrets of the tests, by variable.
var secretsOf = map[string]string{
	"READER": "secret-of-the-reader", "OPERATOR": "secret-of-the-operator", "INGEST": "secret-of-the-ingest", "ADMIN": "secret-of-the-admin",
	"READS": "secret-of-who-reads-all", "INCIDENTS": "secret-of-who-sees-incidents",
}

// environment is the environment with the secrets.
func environment() (env []string) {
	for name, secret := range secretsOf {
		env = append(env, name+"="+secret)
	}
	return env
}

// roles is a section with a token of each built-in role, and two with permissions.
const roles = `  api:
    auth:
      anonymous_permissions: [%s]
      tokens:
        - {name: the-reader, token_env: READER, role: reader}
        - {name: the-operator, token_env: OPERATOR, role: operator}
        - {name: the-ingest, token_env: INGEST, role: ingest}
        - {name: the-admin, token_env: ADMIN, role: admin}
        - {name: reads-all, token_env: READS, permissions: ["*:read"]}
        - {name: sees-incidents, token_env: INCIDENTS, permissions: ["incidents:read"]}
`

// guarded starts a daemon with the tokens of roles.
func guarded(t *testing.T, anonymous string, args ...string) *daemon {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	file := write(t, dir, "sluice.yaml", "daemon:\n"+fmt.Sprintf(roles, anonymous))
	return secured(t, dir, environment(), append([]string{"--config", file, "-r", filepath.Join(dir, "rules")}, args...)...)
}

// secured starts a daemon with further variables.
func secured(t *testing.T, dir string, env []string, args ...string) *daemon {
	t.Helper()
	d := launchWith(t, dir, env, args...)
	d.awaitLog("API server listening")
	return d
}

// as is do for somebody with a token; the token is the name of its variable, and empty
// for nobody.
func (d *daemon) as(token, method, path, body string) answer {
	d.t.Helper()
	if token == "" {
		return d.do(method, path, body)
	}
	return d.do(method, path, body, "Authorization", "Bearer "+secretsOf[token])
}

// silent fails when a secret stands in what the daemon wrote.
func (d *daemon) silent() {
	d.t.Helper()
	for _, secret := range secretsOf {
		if strings.Contains(d.stderr.String()+d.stdout.String(), secret) {
			d.t.Error("the daemon wrote a secret")
		}
	}
}

var placeholder = regexp.MustCompile(`\{[^}]*\}`)

// Every method of every route, and what becomes of a request for it by nobody and with a
// token of each built-in role.
func TestWhoMayUseWhichRoute(t *testing.T) {
	d := guarded(t, "", "--enable-pprof", "--input", "http")
	who := []string{"", "READER", "OPERATOR", "INGEST", "ADMIN"}
	type request struct{ method, pattern, permission string }
	var all []request
	a := api.New(api.Options{Log: slog.New(slog.DiscardHandler), Metrics: prometheus.NewRegistry()})
	methods := make(map[string][]string)
	for _, e := range a.Endpoints() {
		all = append(all, request{e.Method, e.Pattern, e.Permission})
		if methods[e.Pattern] == nil {
			methods[e.Pattern] = []string{http.MethodHead}
		}
		methods[e.Pattern] = append(methods[e.Pattern], e.Method)
	}
	for pattern, known := range methods { // a method that the route does not have
		for _, method := range []string{http.MethodPut, http.MethodOptions} {
			if !slices.Contains(known, method) {
				all = append(all, request{method, pattern, "*:*"})
				break
			}
		}
	}
	all = append(all, request{http.MethodGet, "/debug/pprof/", "*:*"}, request{http.MethodGet, "/debug/pprof/cmdline", "*:*"}, request{http.MethodGet, "/nope", ""})
	slices.SortFunc(all, func(a, b request) int { return strings.Compare(a.pattern+" "+a.method, b.pattern+" "+b.method) })
	var b strings.Builder
	fmt.Fprintf(&b, "%-55s %-8s %-8s %-8s %-8s %-8s\n", "", "nobody", "reader", "operator", "ingest", "admin")
	for _, r := range all {
		fmt.Fprintf(&b, "%-55s", r.method+" "+r.pattern)
		for _, token := range who {
			got := d.as(token, r.method, placeholder.ReplaceAllString(r.pattern, "none"), "")
			outcome := "yes"
			switch got.status {
			case http.StatusUnauthorized, http.StatusForbidden:
				outcome = fmt.Sprint(got.status)
			case http.StatusMethodNotAllowed:
				outcome = "405"
			}
			fmt.Fprintf(&b, " %-8s", outcome)
			if want := fmt.Sprintf("{\"error\":\"token lacks required permission '%s'\"}\n", r.permission); got.status == http.StatusForbidden && got.body != want {
				t.Errorf("%s %s as %s: got %s, want %s", r.method, r.pattern, token, got.body, want)
			}
			if got.status == http.StatusUnauthorized && (got.header.Get("WWW-Authenticate") != "Bearer" || got.body != "{\"error\":\"missing or invalid bearer token\"}\n") {
				t.Errorf("%s %s as %q: got %v %s", r.method, r.pattern, token, got.header, got.body)
			}
		}
		b.WriteByte('\n')
	}
	lines := strings.Split(b.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	sameAsGolden(t, "permissions", strings.Join(lines, "\n"))
	d.silent()
	d.stop()
}

// sameAsGolden compares text with a file of testdata.
func sameAsGolden(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if text != string(want) {
		t.Errorf("%s differs; got\n%s", path, text)
	}
}

func TestWhatTokensMayDo(t *testing.T) {
	d := guarded(t, "", "--enable-pprof")
	for _, tc := range []struct {
		name, token, method, path, body string
		status                          int
		want                            string // part of the body
	}{
		{"a wrong method needs the full grant", "READER", "PUT", "/api/v1/rules", "", 403, "'*:*'"},
		{"an operator does not reload", "OPERATOR", "POST", "/api/v1/reload", "", 403, "'reload:execute'"},
		{"an admin does", "ADMIN", "POST", "/api/v1/reload", "", 200, "reload_triggered"},
		{"an operator gives verdicts", "OPERATOR", "POST", "/api/v1/dispositions", "{}", 503, "dispositions disabled"},
		{"who sends events reads no metrics", "INGEST", "GET", "/metrics", "", 403, "'metrics:read'"},
		{"a reader lists actors", "READER", "GET", "/api/v1/actors", "", 200, `"parse"`},
		{"a reader resizes none", "READER", "PATCH", "/api/v1/actors/parse", `{"mailbox_capacity":100}`, 403, "'actors:write'"},
		{"an operator does", "OPERATOR", "PATCH", "/api/v1/actors/parse", `{"mailbox_capacity":100}`, 200, "100"},
		{"bundles are more than incidents", "INCIDENTS", "GET", "/api/v1/incidents/x/bundle", "", 403, "'incident-bundles:read'"},
		{"incidents are open to who may see them", "INCIDENTS", "GET", "/api/v1/incidents", "", 200, `"count":0`},
		{"profiles are for who may do everything", "ADMIN", "GET", "/debug/pprof/heap", "", 200, ""},
		{"reading everything is not enough", "READS", "GET", "/debug/pprof/heap", "", 403, "'*:*'"},
		{"an operator gets no profiles", "OPERATOR", "GET", "/debug/pprof", "", 403, "'*:*'"},
		{"nobody gets profiles", "", "GET", "/debug/pprof/", "", 401, "missing or invalid bearer token"},
		{"an unknown path needs no token", "", "GET", "/nope", "", 404, `{"error":"not found"}`},
		{"the liveness probe needs none", "", "GET", "/healthz", "", 200, ""},
		{"the readiness probe needs none", "", "GET", "/readyz", "", 200, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := d.as(tc.token, tc.method, tc.path, tc.body)
			if got.status != tc.status || !strings.Contains(got.body, tc.want) {
				t.Errorf("got %d %s, want %d %s", got.status, got.body, tc.status, tc.want)
			}
		})
	}
	d.silent()
	d.stop()
}

// Whoever shows something that is no token is nobody, and less: he does not even get what
// callers without a token may do.
func TestAnonymousPermissions(t *testing.T) {
	d := guarded(t, `"*:read"`)
	for _, tc := range []struct {
		name, header string
		status       int
	}{
		{"no header", "", 200},
		{"an unknown token", "Bearer wrong", 401},
		{"another scheme", "Basic abc", 401},
		{"a known token", "Bearer " + secretsOf["READER"], 200},
		{"a known token with less than anybody", "Bearer " + secretsOf["INGEST"], 403},
	} {
		var header []string
		if tc.header != "" {
			header = []string{"Authorization", tc.header}
		}
		if got := d.do("GET", "/api/v1/rules", "", header...); got.status != tc.status {
			t.Errorf("%s: got %d %s, want %d", tc.name, got.status, got.body, tc.status)
		}
	}
	d.stop()

	scraped := guarded(t, "metrics:read")
	if got := scraped.get("/api/v1/rules"); got.status != 401 {
		t.Errorf("beyond what anybody may: got %d, want 401", got.status)
	}
	if got := scraped.get("/metrics"); got.status != 200 {
		t.Errorf("what anybody may: got %d, want 200", got.status)
	}
	scraped.stop()
}

func TestOneTokenOfAFlag(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	d := secured(t, dir, []string{"T=hunter2", "SLUICE_LOG=debug"}, "-r", dir, "--api-token-env", "T")
	got := d.get("/api/v1/status")
	if got.status != 401 || got.header.Get("WWW-Authenticate") != "Bearer" || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("without a token: got %d %v", got.status, got.header)
	}
	if got := d.do("GET", "/api/v1/status", "", "Authorization", "bearer hunter2"); got.status != 200 {
		t.Errorf("with it: got %d %s", got.status, got.body)
	}
	if got := d.do("POST", "/api/v1/reload", "", "Authorization", "Bearer hunter2"); got.status != 200 {
		t.Errorf("it is an admin's: got %d %s", got.status, got.body)
	}
	d.stop()
	log := d.stderr.String()
	if strings.Contains(log, "hunter2") {
		t.Error("the log has the secret")
	}
	for _, want := range []string{`"target":"sluice.auth","fields":{"message":"request rejected","reason":"unauthorized","route":"/api/v1/status","peer":"127.0.0.1:`, `"token":"default"`, `the secret in the variable \"T\" has fewer than 16 bytes and can be guessed`} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
}

func TestRejectionsAreCountedByReason(t *testing.T) {
	d := guarded(t, "")
	page := func() string { return d.as("READER", "GET", "/metrics", "").body }
	if strings.Contains(page(), "api_auth_failures") {
		t.Error("the series is there before the first rejection")
	}
	d.get("/metrics")
	if got := page(); !strings.Contains(got, "svc_api_auth_failures_total{reason=\"unauthorized\"} 1\n") || strings.Contains(got, "forbidden") {
		t.Errorf("after one without a token:\n%s", got)
	}
	d.as("INGEST", "GET", "/metrics", "")
	if got := page(); !strings.Contains(got, "svc_api_auth_failures_total{reason=\"unauthorized\"} 1\n") || !strings.Contains(got, "svc_api_auth_failures_total{reason=\"forbidden\"} 1\n") {
		t.Errorf("after one without the permission:\n%s", got)
	}
	rejected := d.awaitLog("request rejected")
	if rejected["route"] != "/metrics" || rejected["reason"] != "unauthorized" {
		t.Errorf("logged %v", rejected)
	}
	d.await("the second record", func() bool { return strings.Contains(d.stderr.String(), `"reason":"forbidden"`) })
	if !strings.Contains(d.stderr.String(), `"reason":"forbidden","route":"/metrics","peer":"127.0.0.1:`) || !strings.Contains(d.stderr.String(), `"token":"the-ingest","permission":"metrics:read"`) {
		t.Error("the log lacks the peer, the token or the permission")
	}
	d.get("/metrics")
	d.silent()
	d.stop()
	if !strings.Contains(d.stderr.String(), `"message":"further requests rejected","reason":"unauthorized","count":1}`) {
		t.Error("the log does not end with what was kept back of it")
	}
}

// Starts with a section or a flag that cannot be used end before anything listens, and
// validation says the same.
func TestStartsThatAuthenticationRefuses(t *testing.T) {
	plainly(t)
	anonymous := func(p string) string { return "anonymous_permissions: ['" + p + "']" }
	for _, tc := range []struct {
		name, section, flag string
		want                string
	}{
		{"upper case", anonymous("Silences:read"), "", `daemon.api.auth: anonymous_permissions: permission "Silences:read": the resource "Silences"`},
		{"no action", anonymous("a"), "", `permission "a": the action is missing`},
		{"an empty action", anonymous("a:"), "", `permission "a:": the action is empty`},
		{"an empty resource", anonymous(":b"), "", `permission ":b": the resource is empty`},
		{"a second colon", anonymous("a:b:c"), "", `permission "a:b:c": there is a second colon`},
		{"a part of a resource", anonymous("sil*:read"), "", `permission "sil*:read": the resource "sil*"`},
		{"two secrets alike", "tokens: [{name: one, token_env: READER, role: reader}, {name: two, token_env: SAME, role: admin}]", "", `daemon.api.auth: token "one" and token "two" have the same secret`},
		{"a flag and a section", anonymous("*"), "--api-token-env ADMIN", "--api-token-env: cannot be combined with daemon.api.auth"},
		{"an empty section", "{}", "", "daemon.api.auth: neither tokens nor anonymous permissions: everything but the probes would be unreachable"},
		{"an unset variable of the flag", "", "--api-token-env UNSET", `--api-token-env: token "default": the variable "UNSET" is unset or empty`},
		{"an empty variable of the flag", "", "--api-token-env EMPTY", `--api-token-env: token "default": the variable "EMPTY" is unset or empty`},
		{"a flag without a variable", "", "--api-token-env=", "--api-token-env: names no variable"},
		{"a token without a name", "tokens: [{token_env: READER, role: reader}]", "", "daemon.api.auth: token number 1: the name is missing or empty"},
		{"an unknown role", "tokens: [{name: one, token_env: READER, role: raeder}]", "", `daemon.api.auth: token "one": unknown role "raeder" (admin, ingest, operator, reader) (did you mean 'reader'?)`},
		{"a role and permissions", "tokens: [{name: one, token_env: READER, role: reader, permissions: ['*']}]", "", "exactly one of them is allowed"},
		{"a built-in role", "{anonymous_permissions: ['*'], roles: {ingest: ['*']}}", "", `daemon.api.auth: role "ingest": a built-in role cannot be redefined`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "r/a.yml", rule("A", "evil"))
			text := "daemon: {rules: " + filepath.Join(dir, "r") + ", api: {addr: '127.0.0.1:0'}}\n"
			if tc.section != "" {
				text = "daemon:\n  rules: " + filepath.Join(dir, "r") + "\n  api:\n    addr: '127.0.0.1:0'\n    auth:\n      " + tc.section + "\n"
			}
			file := write(t, dir, "sluice.yaml", text)
			for _, args := range [][]string{{"engine", "daemon", "--config", file}, {"config", "validate", "--config", file}} {
				if tc.flag != "" && args[0] == "config" {
					continue // it has no flags of the daemon
				}
				cmd := command(t, append(args, strings.Fields(tc.flag)...)...)
				cmd.Env = append(cmd.Env, append(environment(), "SAME="+secretsOf["READER"], "EMPTY=")...)
				got := finish(t, cmd, "")
				if got.code != 3 || !strings.Contains(got.stderr+got.stdout, tc.want) {
					t.Errorf("%s: exit code %d, %s%s, want 3 and %s", args[0], got.code, got.stdout, got.stderr, tc.want)
				}
				if strings.Contains(got.stderr, "listening") || strings.Contains(got.stderr, "secret-of") {
					t.Errorf("%s: it listened or showed a secret: %s", args[0], got.stderr)
				}
			}
		})
	}
}

// What can be used and is probably not meant is told at the start, in the log.
func TestDoubtfulAuthenticationIsToldAtTheStart(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "r/a.yml", rule("A", "evil"))
	file := write(t, dir, "sluice.yaml", `daemon:
  api:
    auth:
      roles: {typist: ["source:write"]}
      tokens:
        - {name: ci, token_env: NEWLINE, permissions: ["events:ingets"]}
        - {name: see, token_env: READER, role: reader}
`)
	args := []string{"--config", file, "-r", filepath.Join(dir, "r"), "--enable-tap"}
	d := secured(t, dir, append(environment(), "NEWLINE=secret-of-a-file\n"), args...)
	log := d.stderr.String()
	for _, want := range []string{
		`"message":"role \"typist\": no endpoint asks for the permission source:write","key":"daemon.api.auth","file":"` + file + `","suggestion":"did you mean 'sources:write'?","line":4`,
		`"message":"token \"ci\": no endpoint asks for the permission events:ingets","key":"daemon.api.auth","file":"` + file + `","suggestion":"did you mean 'events:ingest'?","line":6`,
		`token \"ci\": the secret in the variable \"NEWLINE\" ends with white space, such as a line break, so no request can match it`,
		`tap sessions show whole events, and a wildcard gives the permission tap:read to token \"see\"`,
	} {
		if !strings.Contains(log, want) {
			t.Errorf("the log lacks %s:\n%s", want, log)
		}
	}
	if strings.Contains(log, "secret-of") {
		t.Error("the log has a secret")
	}
	d.stop()
	cmd := command(t, append([]string{"engine", "daemon", "--dry-run"}, args...)...)
	cmd.Env = append(cmd.Env, append(environment(), "NEWLINE=secret-of-a-file\n")...)
	if got := finish(t, cmd, ""); got.code != 0 || strings.Contains(got.stdout+got.stderr, "secret-of") || !strings.Contains(got.stdout, "NEWLINE") {
		t.Errorf("--dry-run: exit code %d, %s%s", got.code, got.stdout, got.stderr)
	}
}

// A doubt about the one token is told of its flag, as there is no section to mend.
func TestADoubtAboutTheOneTokenNamesItsFlag(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "r/a.yml", rule("A", "evil"))
	d := secured(t, dir, environment(), "-r", filepath.Join(dir, "r"), "--api-token-env", "READER", "--enable-tap")
	const want = `a wildcard gives the permission tap:read to token \"default\"","key":"--api-token-env"`
	if log := d.stderr.String(); !strings.Contains(log, want) {
		t.Errorf("the log lacks %s:\n%s", want, log)
	}
	d.stop()
}

// A caller who may not post is answered before his body, and a small one leaves the
// connection as it was.
func TestBodiesOfCallersWhoMayNotPost(t *testing.T) {
	d := guarded(t, "", "--input", "http")
	kib := func(n int) string { return strings.Repeat("x", n<<10) }
	long := kib(1024) + "x"
	for _, tc := range []struct {
		name, token, body string
		status            int
		stays             bool
	}{
		{"a small upload without a token", "", kib(60), 401, true},
		{"a large one", "", kib(10 << 10), 401, false},
		{"a small upload without the permission", "READER", kib(60), 403, true},
		{"a line that is too long, and little behind it", "INGEST", long + kib(200), 413, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := net.Dial("tcp", d.addr)
			if err != nil {
				t.Fatal(err)
			}
			sent := make(chan struct{})
			defer func() { c.Close(); <-sent }()
			go func() {
				defer close(sent)
				header := ""
				if tc.token != "" {
					header = "Authorization: Bearer " + secretsOf[tc.token] + "\r\n"
				}
				_, _ = fmt.Fprintf(c, "POST /api/v1/events HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n%s", header, len(tc.body), tc.body)
			}()
			br := bufio.NewReader(c)
			resp, err := http.ReadResponse(br, nil)
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			if resp.StatusCode != tc.status || err != nil || resp.Close == tc.stays {
				t.Fatalf("got %d %s, %v, closed %v, want %d, closed %v", resp.StatusCode, body, err, resp.Close, tc.status, !tc.stays)
			}
			if !tc.stays {
				if n, _ := io.Copy(io.Discard, br); n != 0 {
					t.Errorf("%d bytes behind the answer, want the end", n)
				}
				return
			}
			<-sent
			fmt.Fprint(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
			if resp, err = http.ReadResponse(br, nil); err != nil || resp.StatusCode != 200 {
				t.Errorf("the next request: %v, %v", resp, err)
			}
		})
	}
	d.stop()
}

// Headers as attackers write them, byte for byte, and the daemon goes on.
func TestHeadersThatAreNoToken(t *testing.T) {
	d := guarded(t, "status:read")
	good := "Authorization: Bearer " + secretsOf["READER"] + "\r\n"
	for _, tc := range []struct {
		name, header string
		status       int
	}{
		{"the token", good, 200},
		{"the name of the header in lower case", strings.ToLower(good[:13]) + good[13:], 200},
		{"blanks around the value", "Authorization:   Bearer " + secretsOf["READER"] + "  \r\n", 200},
		{"no header", "", 200},
		{"the header twice", good + good, 401},
		{"a wrong one behind it", good + "Authorization: Bearer wrong\r\n", 401},
		{"a wrong one before it", "Authorization: Bearer wrong\r\n" + good, 401},
		{"an empty one behind it", good + "Authorization:\r\n", 401},
		{"an empty header", "Authorization:\r\n", 401},
		{"a control character", "Authorization: Bearer a\x01b\r\n", 400},
		{"a zero", "Authorization: Bearer a\x00b\r\n", 400},
		{"a header over two lines", "Authorization: Bearer\r\n " + secretsOf["READER"] + "\r\n", 200},
		{"bytes that are no text", "Authorization: Bearer \xff\xfe\r\n", 401},
		{"60 KiB", "Authorization: Bearer " + strings.Repeat("x", 60<<10) + "\r\n", 401},
		{"64 KiB", "Authorization: Bearer " + strings.Repeat("x", 64<<10) + "\r\n", 431},
		{"a token in the query", "X: ?token=" + secretsOf["READER"] + "\r\n", 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c, err := net.Dial("tcp", d.addr)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			fmt.Fprintf(c, "GET /api/v1/status HTTP/1.1\r\nHost: x\r\n%s\r\n", tc.header)
			resp, err := http.ReadResponse(bufio.NewReader(c), nil)
			if err != nil {
				t.Fatal(err)
			}
			if resp.StatusCode != tc.status {
				t.Errorf("got %d, want %d", resp.StatusCode, tc.status)
			}
		})
	}
	// Over HTTP/2, without TLS.
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	tr := &http.Transport{Protocols: protocols}
	defer tr.CloseIdleConnections()
	for _, tc := range []struct {
		values []string
		status int
	}{
		{[]string{"Bearer " + secretsOf["READER"]}, 200},
		{[]string{"Bearer " + secretsOf["READER"], "Bearer " + secretsOf["READER"]}, 401},
		{[]string{"Bearer wrong"}, 401},
	} {
		req, err := http.NewRequest(http.MethodGet, "http://"+d.addr+"/api/v1/rules", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header["Authorization"] = tc.values
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != tc.status || resp.ProtoMajor != 2 {
			t.Errorf("%q over %s: got %d, want %d", tc.values, resp.Proto, resp.StatusCode, tc.status)
		}
	}
	d.silent()
	d.stop()
}

// Profiles show what a process holds. Who serves them to everybody is told.
func TestProfilesThatEverybodyReachesAreTold(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.yml", rule("A", "evil"))
	for _, tc := range []struct {
		name, args string
		told       bool
	}{
		{"on all addresses", "--api-addr 0.0.0.0:0 --allow-plaintext --enable-pprof", true},
		{"with authentication", "--api-addr 0.0.0.0:0 --allow-plaintext --enable-pprof --api-token-env ADMIN", false},
		{"on a loopback address", "--api-addr 127.0.0.1:0 --enable-pprof", false},
		{"without profiles", "--api-addr 0.0.0.0:0 --allow-plaintext", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := secured(t, dir, environment(), append([]string{"-r", dir}, strings.Fields(tc.args)...)...)
			d.stop()
			if got := strings.Contains(d.stderr.String(), "profiles are open to everybody who reaches the address"); got != tc.told {
				t.Errorf("told: %v, want %v", got, tc.told)
			}
		})
	}
}
