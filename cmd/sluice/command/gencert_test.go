package command

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/cmd/sluice/trialcert"
)

func TestTrialCertificatesAreWrittenOnce(t *testing.T) {
	inEmptyDir(t)
	got := sluice(t, "", "config", "gen-cert")
	got.wantCode(t, 0)
	server := readLeaf(t, "certs")
	if want := "wrote certificates and keys to certs, valid until " + server.end.Format(time.RFC3339) + "\n" +
		"They are for trying TLS out. The keys have no password, and the key of the authority was thrown away.\n"; got.err != want {
		t.Errorf("stderr got %q, want %q", got.err, want)
	}
	if want := "localhost 127.0.0.1 ::1"; server.names != want {
		t.Errorf("the certificate is for %s, want %s", server.names, want)
	}
	if left := time.Until(server.end); left > 90*24*time.Hour || left < 89*24*time.Hour {
		t.Errorf("it is valid for %s, want 90 days", left)
	}
	got = sluice(t, "", "config", "gen-cert")
	got.wantCode(t, 3)
	if want := "sluice: certs/ca.pem, certs/server.pem, certs/server-key.pem, certs/client.pem, certs/client-key.pem: exists already; --force replaces them\n"; got.err != want || got.out != "" {
		t.Errorf("the second time: stderr got %q, want %q", got.err, want)
	}
	if again := readLeaf(t, "certs"); again != server {
		t.Error("the second time it was replaced")
	}
	got = sluice(t, "", "config", "gen-cert", "--force", "--host", "DB.example", "--host=10.0.0.5", "--host", "db.example.", "--days", "1")
	got.wantCode(t, 0)
	again := readLeaf(t, "certs")
	if want := "db.example 10.0.0.5"; again.names != want || again.text == server.text {
		t.Errorf("forced: the certificate is for %s, want %s and another one", again.names, want)
	}
	if left := time.Until(again.end); left > 24*time.Hour || left < 23*time.Hour {
		t.Errorf("it is valid for %s, want a day", left)
	}
}

type serverLeaf struct {
	text, names string
	end         time.Time
}

func readLeaf(t *testing.T, dir string) serverLeaf {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(filepath.Join(dir, trialcert.ServerCertFile), filepath.Join(dir, trialcert.ServerKeyFile))
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Clone(pair.Leaf.DNSNames)
	for _, ip := range pair.Leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return serverLeaf{string(pair.Leaf.Raw), strings.Join(names, " "), pair.Leaf.NotAfter}
}

func TestFaultsOfTrialCertificatesSayWhatIsMeant(t *testing.T) {
	inEmptyDir(t)
	write(t, "file", "")
	for line, want := range map[string]string{
		"--days 0":             `--days: "0" is not allowed (1 to 3650)`,
		"--days -1":            `--days: "-1" is not allowed (1 to 3650)`,
		"--days 3651":          `--days: "3651" is not allowed (1 to 3650)`,
		"--days 1.5":           `--days: "1.5" is not allowed (1 to 3650)`,
		"--days 30d":           `--days: "30d" is not allowed (1 to 3650)`,
		"--days=":              `--days: "" is not allowed (1 to 3650)`,
		"--host=":              "--host: the name is empty",
		"--host localhost:443": `--host: "localhost:443" has a port, which a certificate does not know; write localhost`,
		"--host a,b":           `--host: "a,b" is no host name and no IP address`,
		"-o=":                  "--output: the path is empty",
		"-o file":              "lstat file/ca.pem: not a directory",
		"out":                  `config gen-cert takes no argument, got "out"`,
		"--hosts a":            "unknown flag --hosts, did you mean --host?",
		strings.Repeat("--host a ", 2) + manyHosts(101): "--host: 102 names are too many (at most 100)",
	} {
		got := sluice(t, "", append([]string{"config", "gen-cert"}, strings.Fields(line)...)...)
		got.wantCode(t, 3)
		if !strings.HasPrefix(got.err, "sluice: "+want) || got.out != "" {
			t.Errorf("%.40s: stderr got %q, want %q", line, got.err, want)
		}
	}
	entries, err := os.ReadDir(".")
	if err != nil || len(entries) != 1 {
		t.Errorf("there are %v, %v, want the one file from before", entries, err)
	}
}

func manyHosts(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("--host h" + strings.Repeat("x", i%50) + string(rune('a'+i/50)) + " ")
	}
	return b.String()
}

// The commands fit what was made, with any name of the directory.
func TestTheCommandsOfTrialCertificates(t *testing.T) {
	var b strings.Builder
	for _, tc := range []struct {
		dir, host string
		daemon    bool
	}{
		{"certs", "localhost", true},
		{"certs", "127.0.0.1", true},
		{"certs", "::1", true},
		{"certs", "db.example", true},
		{"certs", "10.0.0.5", true},
		{"certs", "2001:db8::1", true},
		{"certs", "*.example.com", true},
		{"certs", "localhost", false},
		{"/tmp/my certs", "localhost", true},
		{"it's", "localhost", true},
		{"-x", "localhost", true},
		{"a:b", "localhost", true},
		{"$(x)", "localhost", true},
		{".", "localhost", true},
	} {
		b.WriteString("=== " + tc.dir + " " + tc.host + "\n")
		if err := trialCommands(&b, tc.dir, tc.host, tc.daemon); err != nil {
			t.Fatal(err)
		}
	}
	wantGolden(t, "gen-cert", b.String())
}

func TestTrialCertificatesHaveOneFormOfOutput(t *testing.T) {
	inEmptyDir(t)
	got := sluice(t, "", "config", "gen-cert", "--output-format", "json")
	got.wantCode(t, 0)
	got.wantErr(t, "warning: config gen-cert has no json output, it prints text\n")
}
