package acceptance

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsio "github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

func TestResultsAndDeadLettersGoToNATS(t *testing.T) {
	s := natstest.Start(t, func(o *server.Options) { o.Authorization = "right-secret" })
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	cmd := command(t, "engine", "daemon", "-r", filepath.Join(dir, "rules"), "--api-addr", "127.0.0.1:0", "--input-format", "json",
		"--output", "nats://"+s.Target("alerts.high"), "--output", "nats://"+s.Target("copies"), "--dlq", "nats://"+s.Target("dead"))
	cmd.Env = append(cmd.Env, "NATS_TOKEN=right-secret")
	got := finish(t, cmd, event("evil")+"\n"+event("good")+"\nno event\n"+event("evil")+"\n")
	if got.code != 0 {
		t.Fatalf("exit code %d, want 0:\n%s", got.code, got.stderr)
	}
	if strings.Contains(got.stderr, "secret") {
		t.Errorf("the log shows a secret:\n%s", got.stderr)
	}
	token := natsio.Token("right-secret")
	line := resultLine("Evil", "evil")
	id := regexp.MustCompile(`^msg_[0-9a-f]{32}-0$`)
	for _, stream := range []string{"sluice-alerts-high", "sluice-copies"} {
		stored := s.Stored(stream, token)
		if bodies := natstest.Bodies(stored); !slices.Equal(bodies, []string{line, line}) {
			t.Errorf("%s holds %q, want %q twice", stream, bodies, line)
		}
		ids := make(map[string]bool)
		for _, m := range stored {
			ids[m.Header.Get("Nats-Msg-Id")] = id.MatchString(m.Header.Get("Nats-Msg-Id"))
		}
		if len(ids) != len(stored) || slices.Contains([]bool{ids[""]}, true) {
			t.Errorf("%s: message ids %v, want one of each message", stream, ids)
		}
	}
	dead := natstest.Bodies(s.Stored("sluice-dead", token))
	if len(dead) != 1 || !strings.HasPrefix(dead[0], `{"original_event":"no event","error":"parse error"`) {
		t.Errorf("dead letters: %q, want one for the line that is no event", dead)
	}
}

func TestAMessageThatNATSDoesNotTakeIsADeadLetterThere(t *testing.T) {
	s := natstest.Start(t, func(o *server.Options) { o.MaxPayload = 2048 })
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	dead := filepath.Join(dir, "dead.ndjson")
	big := `{"C":"evil","D":"` + strings.Repeat("x", 5000) + `"}`
	got := sluice(t, event("evil")+"\n"+big+"\n"+event("evil")+"\n",
		"engine", "daemon", "-r", filepath.Join(dir, "rules"), "--api-addr", "127.0.0.1:0", "--include-event",
		"--output", "nats://"+s.Target("alerts"), "--dlq", "file://"+dead)
	if got.code != 0 {
		t.Fatalf("exit code %d, want 0:\n%s", got.code, got.stderr)
	}
	if n := len(s.Stored("sluice-alerts")); n != 2 {
		t.Errorf("%d messages stored, want the two that fit", n)
	}
	text, err := os.ReadFile(dead)
	if err != nil {
		t.Fatal(err)
	}
	if want := "permanent delivery failure: "; strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), want) || !strings.Contains(string(text), `"attempts":1}`) {
		t.Errorf("dead letters: %.300s, want one with %q after one attempt", text, want)
	}
}

func TestAStartWithoutNATSSaysWhy(t *testing.T) {
	s := natstest.Start(t, func(o *server.Options) { o.Username, o.Password = "u", "right-secret" })
	gone := natstest.Start(t, nil)
	gone.Down()
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	rules := filepath.Join(dir, "rules")
	to, away := "nats://"+s.Target("alerts"), "nats://"+gone.Target("alerts")
	for _, tc := range []struct {
		name string
		args []string
		env  string
		want string
	}{
		{"a server that is away", []string{"--output", away}, "", "sink nats: connect to nats://127.0.0.1:"},
		{"a dead letter queue that is away", []string{"--dlq", away}, "", "dead letter queue: connect to nats://127.0.0.1:"},
		{"a wrong login", []string{"--output", to, "--nats-user", "u", "--nats-password", "wrong-secret"}, "", "nats: Authorization Violation (--nats-creds, --nats-nkey"},
		{"no login", []string{"--output", to}, "", "nats: Authorization Violation"},
		{"a flag and a variable of two methods", []string{"--output", to, "--nats-token", "wrong-secret"}, "NATS_CREDS=/no.creds", "--nats-creds: excludes --nats-token"},
		{"a credentials file that is missing", []string{"--output", to}, "NATS_CREDS=/no.creds", "--nats-creds: open /no.creds: no such file or directory"},
		{"a seed that is none", []string{"--output", to, "--nats-nkey", "wrong-secret"}, "", "--nats-nkey: is no NKey seed of a user"},
		{"TLS where there is none", []string{"--output", to, "--nats-require-tls"}, "", "the server has no TLS, which --nats-require-tls demands"},
		{"a wildcard", []string{"--output", away + ".>"}, "", "subject 'alerts.>' must be concrete"},
		{"a password in the URL", []string{"--output", "nats://u:wrong-secret@127.0.0.1:1/a"}, "", "a NATS URL holds no credentials"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			cmd := command(t, append([]string{"engine", "daemon", "-r", rules, "--api-addr", "127.0.0.1:0"}, tc.args...)...)
			if tc.env != "" {
				cmd.Env = append(cmd.Env, tc.env)
			}
			got := finish(t, cmd, "")
			if got.code != 3 || !strings.Contains(got.stderr, tc.want) || strings.Contains(got.stderr+got.stdout, "secret") {
				t.Errorf("exit code %d, want 3 and %q and no secret:\n%s", got.code, tc.want, got.stderr)
			}
		})
	}
}

func TestNoCommandShowsHowOneLogsInToNATS(t *testing.T) {
	dir := t.TempDir()
	file := write(t, dir, "sluice.yaml", "daemon: {rules: r, api: {addr: '127.0.0.1:0'}, output: {sinks: ['nats://u:the-secret@h:1/s'], dlq: 'nats://the-secret@h:1/d'}}\n")
	for _, args := range [][]string{
		{"engine", "daemon", "--dry-run", "-c", file, "--nats-token", "the-secret"},
		{"engine", "daemon", "--dry-run", "-c", file, "--nats-user", "u", "--nats-password", "the-secret"},
		{"engine", "daemon", "--dry-run", "-c", file, "--nats-nkey", "the-secret"},
		{"engine", "daemon", "-c", file},
		{"config", "show", "-c", file},
		{"config", "show", "-c", file, "--format", "json"},
		{"config", "show", "-c", file, "--format", "yaml"},
		{"config", "validate", "-c", file},
		{"config", "validate", "-c", file, "--format", "json"},
	} {
		cmd := command(t, args...)
		cmd.Env = append(cmd.Env, "NATS_CREDS=", "SLUICE_DAEMON__NATS__TOKEN=the-secret")
		got := finish(t, cmd, "")
		if text := got.stdout + got.stderr; strings.Contains(text, "the-secret") || text == "" {
			t.Errorf("%v shows a secret:\n%s", args, text)
		}
	}
}

// standing is a way to a server that stands still once it is told to, at least for what
// is sent to the server.
type standing struct {
	listener net.Listener
	still    chan struct{} // closed when nothing reaches the server
	mute     bool          // then nothing comes back either
	wg       sync.WaitGroup
}

// standBefore listens in front of a server.
func standBefore(t *testing.T, server string) *standing {
	t.Helper()
	return standBetween(t, server, true)
}

// standBetween is standBefore, of which mute says whether the server is not heard either.
func standBetween(t *testing.T, server string, mute bool) *standing {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &standing{listener: l, still: make(chan struct{}), mute: mute}
	p.wg.Go(func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				_ = near.Close()
				continue
			}
			p.wg.Go(func() { p.pass(near, far, true) })
			p.wg.Go(func() { p.pass(far, near, p.mute) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.wg.Wait()
	})
	return p
}

// pass hands on what comes, and from the standstill on nothing. It reads on, so that it
// notices the end.
func (p *standing) pass(from, to net.Conn, stands bool) {
	defer from.Close()
	defer to.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		select {
		case <-p.still:
			if stands {
				continue
			}
		default:
		}
		if _, err := to.Write(buf[:n]); err != nil {
			return
		}
	}
}

// A server that answers nothing any more is no error of the daemon: the drain ends in
// time, what was not acknowledged is a dead letter, and nothing is lost.
func TestAShutdownWhileNATSStandsStill(t *testing.T) {
	t.Parallel()
	t.Run("the server alone", func(t *testing.T) {
		shutdownWithoutNATS(t, (*daemon).stop)
	})
	t.Run("the daemon too, while it closes", func(t *testing.T) {
		shutdownWithoutNATS(t, func(d *daemon) {
			d.signal(syscall.SIGTERM)
			d.awaitLog("drain timeout exceeded")
			d.signal(syscall.SIGSTOP)
			time.Sleep(2 * time.Second) // longer than anything may take to close
			d.signal(syscall.SIGCONT)
			if code := d.wait(); code != 0 {
				t.Errorf("exit code %d, want 0", code)
			}
		})
	})
}

func shutdownWithoutNATS(t *testing.T, ending func(*daemon)) {
	t.Helper()
	s := natstest.Start(t, nil)
	address, _, _ := strings.Cut(s.Target("found"), "/")
	p := standBefore(t, address)
	dir := t.TempDir()
	write(t, dir, "rules/a.yml", rule("Evil", "evil"))
	d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "nats://"+p.listener.Addr().String()+"/found", "--dlq", "file://"+dir+"/dead", "--drain-timeout", "1")
	d.push(event("evil 1"))
	close(p.still)
	if a := d.do("POST", "/api/v1/events", event("evil 2")); a.status != 200 {
		t.Fatalf("answer %d", a.status)
	}
	ending(d)
	if log := d.stderr.String(); strings.Contains(log, `"level":"ERROR"`) || !strings.Contains(log, "drain timeout exceeded") {
		t.Errorf("the log has an error, or lacks what was left:\n%s", log)
	}
	if got := natstest.Bodies(s.Stored("sluice-found")); !slices.Equal(got, []string{resultLine("Evil", "evil 1")}) {
		t.Errorf("the stream holds %q", got)
	}
	dead := output(filepath.Join(dir, "dead")).lines()
	if len(dead) != 1 || !strings.Contains(dead[0], "evil 2") || !strings.Contains(dead[0], `"error":"sink delivery failure: drain timeout"`) {
		t.Errorf("dead letters %q, want the one that was not acknowledged", dead)
	}
}
