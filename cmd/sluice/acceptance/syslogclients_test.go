package acceptance

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/certs/certstest"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

var (
	logger  = &program{"bsdutils", []string{"logger", "/usr/bin/logger"}, []string{"--version"}}
	rsyslog = &program{"rsyslog and rsyslog-gnutls", []string{"rsyslogd", "/usr/sbin/rsyslogd"}, []string{"-v"}}
)

// syslogSender is a client of the syslog inputs. ADDR, PORT and DIR stand for what it is told.
type syslogSender struct {
	name   string
	input  string // scheme
	needs  *program
	recipe string   // the fence of docs/inputs.md that it is configured with, and the destination in it
	args   []string // of the command, without recipe
}

var syslogSenders = []syslogSender{
	{"logger over UDP", "syslog+udp", logger, "", []string{"--server", "ADDR", "--port", "PORT", "--udp", "--tag", "app"}},
	{"logger over UDP, as of RFC 3164", "syslog+udp", logger, "", []string{"--server", "ADDR", "--port", "PORT", "--udp", "--rfc3164", "--tag", "app"}},
	{"logger over TCP in lines", "syslog+tcp", logger, "", []string{"--server", "ADDR", "--port", "PORT", "--tcp", "--tag", "app"}},
	{"logger over TCP with lengths", "syslog+tcp", logger, "", []string{"--server", "ADDR", "--port", "PORT", "--tcp", "--octet-count", "--tag", "app"}},
	{"syslog-ng over UDP", "syslog+udp", syslogNG, "syslog-ng d_sluice_udp", nil},
	{"syslog-ng over TCP", "syslog+tcp", syslogNG, "syslog-ng d_sluice_tcp", nil},
	{"syslog-ng with lengths", "syslog+tcp", syslogNG, "syslog-ng d_sluice_syslog", nil},
	{"syslog-ng over TLS", "syslog+tls", syslogNG, "syslog-ng d_sluice_tls", nil},
	{"rsyslog over UDP", "syslog+udp", rsyslog, "rsyslog-udp", nil},
	{"rsyslog over TCP", "syslog+tcp", rsyslog, "rsyslog-tcp", nil},
	{"rsyslog over TLS", "syslog+tls", rsyslog, "rsyslog-tls", nil},
}

// Devices and syslog servers are understood as they are shipped and as the page configures
// them: with the fields of their messages, over each transport.
func TestSyslogClientsAreUnderstood(t *testing.T) {
	authority := certstest.New(t, "syslog")
	cert, key := authority.Issue("localhost", time.Hour)
	sender, senderKey := authority.Issue("sender", time.Hour)
	rules := write(t, t.TempDir(), "a.yml", "title: A\ndetection: {sel: {appname: app}, words: ['user ran evil'], condition: sel and words}\n")
	d := start(t, "-r", rules, "--include-event", "--input", "syslog+udp://127.0.0.1:0", "--input", "syslog+tcp://127.0.0.1:0", "--input", "syslog+tls://127.0.0.1:0",
		"--syslog-tls-cert", cert, "--syslog-tls-key", key, "--syslog-tls-client-ca", authority.File)
	for _, s := range syslogSenders {
		t.Run(s.name, func(t *testing.T) {
			d.t = t
			path := s.needs.path()
			if s.needs == rsyslog && path == "" {
				t.Skip("rsyslog is not installed: Debian installs it only where syslog-ng is not, so .ci/run unpacks it below bin/rsyslog")
			}
			sigmatest.Need(t, path != "", s.name+" is not installed: install "+s.needs.packages+" to run this test")
			host, port, _ := strings.Cut(d.listening(s.input), ":")
			fill := strings.NewReplacer("ADDR", host, "PORT", port, "5514", port, "6514", port,
				"/etc/syslog-ng/ca.pem", authority.File, "/etc/syslog-ng/sender.crt", sender, "/etc/syslog-ng/sender.key", senderKey,
				"/etc/rsyslog.d/ca.pem", authority.File, "/etc/rsyslog.d/sender.crt", sender, "/etc/rsyslog.d/sender.key", senderKey).Replace
			before := len(d.stdout.lines())
			switch s.needs {
			case logger:
				args := []string{}
				for _, a := range s.args {
					args = append(args, fill(a))
				}
				if got := finish(t, exec.Command(path, append(args, "user ran evil")...), ""); got.code != 0 {
					t.Fatalf("logger: exit code %d: %s", got.code, got.stderr)
				}
				d.results(before + 1)
			case syslogNG:
				_, name, _ := strings.Cut(s.recipe, " ")
				s.runSyslogNG(t, d, path, name, fill, before)
			case rsyslog:
				s.runRsyslog(t, d, path, fill, before)
			}
			if got := d.stdout.lines()[before]; !strings.Contains(got, `"appname":"app"`) || !strings.Contains(got, `"hostname":"`) || !strings.Contains(got, `"_raw":"user ran evil"`) {
				t.Errorf("fields are missing: %s", got)
			}
		})
	}
	d.t = t
	if got := d.figures(); got.errors != 0 || d.metric(`svc_syslog_framing_errors_total{reason="out_of_step"}`) != 0 {
		t.Errorf("%d parse errors, or faults of framing", got.errors)
	}
	d.stop()
}

// recipeOf is the block of docs/inputs.md of a kind that holds a text.
func recipeOf(t *testing.T, info, text string) string {
	t.Helper()
	for _, f := range fences(t, "docs/inputs.md") {
		if f.info == info && strings.Contains(f.text, text) {
			return f.text
		}
	}
	t.Fatalf("docs/inputs.md has no block of %s with %q", info, text)
	return ""
}

func (s syslogSender) runSyslogNG(t *testing.T, d *daemon, path, destination string, fill func(string) string, before int) {
	t.Helper()
	dir := t.TempDir()
	config := write(t, dir, "syslog-ng.conf", "@version: 3.38\nsource s { stdin(); };\n"+fill(recipeOf(t, "syslog-ng", " "+destination+" "))+"log { source(s); destination("+destination+"); };\n")
	in := func(name string) string { return filepath.Join(dir, name) }
	cmd := exec.Command(path, "-F", "-e", "--no-caps", "-f", config, "-R", in("persist"), "-c", in("ctl"), "-p", in("pid"))
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	send(t, stdin, "<34>Oct 11 22:14:15 web01 app: user ran evil\n")
	d.results(before + 1)
	_ = stdin.Close() // which ends it
	if err := cmd.Wait(); err != nil {
		t.Errorf("syslog-ng ended with %v:\n%s", err, log.String())
	}
}

func (s syslogSender) runRsyslog(t *testing.T, d *daemon, path string, fill func(string) string, before int) {
	t.Helper()
	dir := t.TempDir()
	modules := os.Getenv("RSYSLOG_MODDIR") // where they are not installed
	input := socketPath(t)
	config := write(t, dir, "rsyslog.conf", fmt.Sprintf("module(load=\"imuxsock\" SysSock.Use=\"off\")\ninput(type=\"imuxsock\" Socket=%q)\n%s", input, fill(recipeOf(t, s.recipe, "omfwd"))))
	args := []string{"-n", "-iNONE", "-f", config}
	if modules != "" {
		args = append(args, "-M"+modules)
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = dir
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	d.await("rsyslog's socket", func() bool {
		select {
		case err := <-ended:
			t.Fatalf("rsyslog ended with %v:\n%s", err, log.String())
		default:
		}
		_, err := os.Stat(input)
		return err == nil
	})
	c := connect(t, "unixgram", input)
	send(t, c, "<34>Oct 11 22:14:15 app: user ran evil")
	d.results(before + 1)
	_ = cmd.Process.Signal(syscall.SIGTERM)
	if err := <-ended; err != nil {
		t.Errorf("rsyslog ended with %v:\n%s", err, log.String())
	}
}
