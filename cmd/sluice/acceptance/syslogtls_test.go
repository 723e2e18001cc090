package acceptance

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/certs/certstest"
)

// What a start refuses of the files of TLS, config validate refuses too.
func TestFilesOfSyslogOverTLSAreCheckedWithoutAStart(t *testing.T) {
	plainly(t)
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("A", "evil"))
	authority := certstest.New(t, "syslog")
	cert, key := authority.Issue("localhost", time.Hour)
	_, other := authority.Issue("localhost", time.Hour)
	const inputs = "[http, 'syslog+udp://127.0.0.1:0', 'syslog+tls://127.0.0.1:0']"
	for _, tc := range []struct{ name, source, tls, want string }{
		{"no certificate", inputs, "{}", "daemon.input.syslog.tls.cert: needs a certificate and its key"},
		{"a file that is not there", inputs, "{cert: " + cert + "x, key: " + key + "}", cert + "x: "},
		{"the key of another", inputs, "{cert: " + cert + ", key: " + other + "}", "daemon.input.syslog.tls.key: " + other + ": is not the key of the certificate"},
		{"no certificate without TLS", "[http, 'syslog+tcp://127.0.0.1:0']", "{}", ""},
		{"all that is needed", inputs, "{cert: " + cert + ", key: " + key + "}", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			config := write(t, dir, "sluice.yaml", "daemon:\n  rules: ["+filepath.Join(dir, "rules")+"]\n  api: {addr: '127.0.0.1:0'}\n  input:\n    source: "+tc.source+"\n    syslog: {tls: "+tc.tls+"}\n")
			code := 3
			commands := [][]string{{"config", "validate", "-c", config}, {"engine", "daemon", "--config", config}}
			if tc.want == "" {
				code, commands = 0, commands[:1]
			}
			for _, command := range commands {
				got := sluice(t, "", command...)
				if text := got.stderr + got.stdout; got.code != code || !strings.Contains(text, tc.want) {
					t.Errorf("%s: exit code %d, want %d and %q:\n%s", command[0], got.code, code, tc.want, text)
				}
			}
		})
	}
}
