package command

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/internal/kafkaconn/kafkatest"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
	"github.com/sluicehq/sluice/otlp/otlptest"
)

// destination is a sink that is there, and what came to it.
type destination struct {
	spec string
	came func(got outcome) []string
}

// destinations makes one of each scheme.
var destinations = map[string]func(t *testing.T) destination{
	"stdout": func(*testing.T) destination {
		return destination{"stdout", func(got outcome) []string { return strings.Split(strings.TrimSpace(got.out), "\n") }}
	},
	"file://": func(t *testing.T) destination {
		t.Helper()
		path := filepath.Join(t.TempDir(), "found")
		return destination{"file://" + path, func(outcome) []string {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			return strings.Split(strings.TrimSpace(string(text)), "\n")
		}}
	},
	"unix://": func(t *testing.T) destination {
		t.Helper()
		path := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", path)
		if err != nil {
			t.Fatal(err)
		}
		all := make(chan []string, 1)
		go func() {
			var lines []string
			if c, err := l.Accept(); err == nil {
				for in := bufio.NewScanner(c); in.Scan(); {
					lines = append(lines, in.Text())
				}
				_ = c.Close()
			}
			all <- lines
		}()
		return destination{"unix://" + path, func(outcome) []string {
			_ = l.Close()
			return <-all
		}}
	},
	"nats://": func(t *testing.T) destination {
		t.Helper()
		s := natstest.Start(t, nil)
		return destination{"nats://" + s.Target("found"), func(outcome) []string { return natstest.Bodies(s.Stored("sluice-found")) }}
	},
	"kafka://": func(t *testing.T) destination {
		t.Helper()
		c := kafkatest.Start(t, kfake.SeedTopics(1, "found"))
		return destination{"kafka://" + c.Target("found"), func(outcome) []string { return kafkatest.Bodies(c.Stored("found")) }}
	},
	"otlp://":      func(t *testing.T) destination { t.Helper(); return collector(t, "otlp", false) },
	"otlps://":     func(t *testing.T) destination { t.Helper(); return collector(t, "otlps", true) },
	"otlphttp://":  func(t *testing.T) destination { t.Helper(); return collector(t, "otlphttp", false) },
	"otlphttps://": func(t *testing.T) destination { t.Helper(); return collector(t, "otlphttps", true) },
}

// collector is a receiver of OTLP. A record is its body, and nothing else.
func collector(t *testing.T, scheme string, secure bool) destination {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	spec := scheme + "://" + l.Addr().String()
	r := otlptest.New(t)
	a := otlptest.NewAuthority(t, "ours")
	config := a.Server("collector", time.Now().Add(time.Hour))
	if secure {
		spec += "?ca=" + a.File
	} else {
		config = nil
	}
	if strings.HasPrefix(scheme, "otlphttp") {
		if secure {
			l = tls.NewListener(l, config)
		}
		r.ServeHTTPOn(l)
	} else {
		r.ServeGRPCOn(l, config)
	}
	return destination{spec, func(outcome) []string {
		for _, record := range r.Records() {
			if len(record.Attributes) > 0 || record.TimeUnixNano != 0 || record.SeverityNumber != 0 {
				t.Errorf("a record is more than its body: %v", record)
			}
		}
		return r.Bodies()
	}}
}

// A result that is replayed arrives as the line that it was, whatever takes it.
func TestResultsAreReplayedToEveryKindOfSink(t *testing.T) {
	want := []string{`{"rule_title":"Failed Login","level":"low"}`, `{"rule_title":"Guessing","correlation_type":"event_count"}`}
	for _, scheme := range sink.Schemes() {
		t.Run(strings.TrimSuffix(scheme, "://"), func(t *testing.T) {
			begin, known := destinations[scheme]
			if !known {
				t.Fatal("no test replays to it")
			}
			inEmptyDir(t)
			write(t, "dead", deadLetters)
			to := begin(t)
			got := sluice(t, "", "dlq", "replay", "dead", "--to", to.spec)
			got.wantCode(t, 1) // one line of the file is damaged
			if !strings.Contains(got.err, "2 results") {
				t.Errorf("it tells\n%s", got.err)
			}
			if came := to.came(got); !slices.Equal(came, want) {
				t.Errorf("%q came, want %q", came, want)
			}
		})
	}
}

// A replay logs in to NATS as the daemon does.
func TestAReplayLogsInToNATS(t *testing.T) {
	s := natstest.Start(t, func(o *server.Options) { o.Authorization = "right-secret" })
	for _, tc := range []struct {
		name string
		args []string
		env  string
		code int
		want string
	}{
		{"a flag", []string{"--nats-token", "right-secret"}, "", 1, "2 results"},
		{"a variable", nil, "right-secret", 1, "2 results"},
		{"no login", nil, "", 3, "--to: connect to nats://127.0.0.1:"},
		{"a wrong login", []string{"--nats-token", "wrong-secret"}, "", 3, "Authorization Violation (--nats-creds, "},
		{"two ways", []string{"--nats-creds", "none"}, "right-secret", 3, "--nats-creds: excludes --nats-token"},
		{"half of a way, without a delivery", []string{"--nats-user", "u", "--dry-run"}, "", 3, "--nats-user: --nats-user and --nats-password belong together"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "dead", deadLetters)
			if tc.env != "" {
				t.Setenv("NATS_TOKEN", tc.env)
			}
			got := sluice(t, "", append([]string{"dlq", "replay", "dead", "--to", "nats://" + s.Target("found")}, tc.args...)...)
			got.wantCode(t, tc.code)
			if !strings.Contains(got.err, tc.want) || strings.Contains(got.out+got.err, "secret") {
				t.Errorf("want %q and no secret, got\n%s", tc.want, got.err)
			}
		})
	}
}

func TestDeadLettersAreReplayedToWebhooks(t *testing.T) {
	const letter = `{"original_event":"[{\"rule_title\":\"A\",\"level\":\"%s\"}]","error":"e","timestamp":"2026-03-01T11:00:00Z","stage":"delivery","sink":"%s","attempts":1}` + "\n"
	var came atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { came.Add(1) }))
	defer server.Close()
	inEmptyDir(t)
	write(t, "dead", fmt.Sprintf(letter, "high", "chat")+fmt.Sprintf(letter, "low", "chat")+fmt.Sprintf(letter, "high", "file")+fmt.Sprintf(letter, "high", "pager"))
	write(t, "hooks/chat.yml", "webhooks: [{id: chat, kind: detection, url: '"+server.URL+"', scope: {levels: [high]}}]\n")
	write(t, "pager.yml", "webhooks: [{id: pager, kind: detection, url: '"+server.URL+"'}]\n")
	write(t, "bad.yml", "webhooks:\n  - {id: a, kind: detection}\n  - {id: b, kind: detection, url: 'http://169.254.169.254/'}\n")
	write(t, "strict.yml", "daemon: {engine: {egress_policy: strict}}\n")
	for _, tc := range []struct {
		name string
		args string
		code int
		came int32
		want []string
	}{
		{"nothing is sent", "--webhook hooks --webhook pager.yml --dry-run", 1, 0, []string{
			"warning: dead letter 2 refused: webhook 'chat' does not take value 1 of original_event, a detection: its kind or its scope leaves it out\n", "would replay 2 results of 2 dead letters to hooks, pager.yml\n",
		}},
		{"each to its own", "--webhook hooks --webhook pager.yml", 1, 2, []string{
			"replayed 2 results of 2 dead letters to hooks, pager.yml\n", "1 dead letter with results left out: --to sends them to a sink, --webhook to the webhook that each names\n", "1 dead letter refused\n",
		}},
		{"what was refused is told again", "--webhook hooks --webhook pager.yml", 1, 0, []string{
			"warning: dead letter 2 was refused by an earlier replay: webhook 'chat' does not take", "replayed nothing\n", "1 dead letter refused by an earlier replay: --restart sends everything again\n",
		}},
		{"other webhooks are another replay", "--webhook hooks", 3, 0, []string{"dead.replayed is about a replay of results with --webhook hooks, pager.yml, and this one is with --webhook hooks ("}},
		{"one of them", "--webhook pager.yml --sink pager --state other", 0, 1, []string{"replayed 1 result of 1 dead letter to pager.yml\n", "the filter left 3 dead letters out\n"}},
		{"an id that no webhook has", "--webhook pager.yml --state another", 1, 0, []string{`sluice: no webhook in pager.yml has the id "chat" (there: pager); dead letter 1 and those behind it wait: mend the id and replay again, or choose other dead letters with --sink`}},
		{"a sink beside webhooks", "--webhook hooks --to stdout", 3, 0, []string{"--to and --webhook exclude each other"}},
		{"faults of files", "--webhook bad.yml", 3, 0, []string{"--webhook: bad.yml:2: webhook 'a': missing required field 'url'", "--webhook: bad.yml:3: webhook 'b': field 'url': egress policy denied link-local address"}},
		{"the policy of the configuration", "--webhook pager.yml -c strict.yml", 3, 0, []string{"egress policy denied loopback address 127.0.0.1 (--egress-policy is strict)"}},
		{"a file that is not there", "--webhook none.yml", 3, 0, []string{"--webhook: webhooks 'none.yml' cannot be read: no such file or directory"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			came.Store(0)
			got := sluice(t, "", append([]string{"dlq", "replay", "dead"}, strings.Fields(tc.args)...)...)
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.want...)
			if came.Load() != tc.came {
				t.Errorf("%d requests, want %d", came.Load(), tc.came)
			}
		})
	}
}
