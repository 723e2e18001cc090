package webhook_test

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/ast"
)

// virtual runs a webhook against a receiver in virtual time. Settings are those of its
// entry, behind id, kind and URL.
func virtual(t *testing.T, settings string, to *receiver, run func(b *bench)) {
	t.Helper()
	w := load(t, "webhooks:\n  - id: w\n    kind: detection\n    url: http://receiver.example/hook\n"+settings, map[string]string{"KEY": "sluice-test-key", "OLD": "old-key"})[0]
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		server := &http.Server{Handler: to}
		go func() { _ = server.Serve(listener) }()
		defer server.Close()
		b := newBench(t, w, func(*tls.Config) *http.Client {
			return &http.Client{Transport: &http.Transport{DialContext: listener.dial}}
		}, nil)
		defer b.close()
		run(b)
	})
}

func odd(title string) *graph.Result { return detection(ast.Meta{Title: title}, "") }

// gaps are the times between the requests, the first after since.
func gaps(since time.Time, all []arrival) (out []time.Duration) {
	for _, a := range all {
		out = append(out, a.at.Sub(since))
		since = a.at
	}
	return out
}

// about reports whether a wait is as long as it should be, give or take a fifth.
func about(got, want time.Duration) bool {
	return got >= want*8/10 && got <= want*12/10
}

const titleBody = "    body: '${detection.rule.title}'\n    headers: {content-type: text/plain}\n"

func TestAnswers(t *testing.T) {
	for _, tc := range []struct {
		name   string
		answer *receiver
		// of one result
		requests          int
		waits             []time.Duration // behind the first request, each give or take a fifth
		success, final    int
		retries, failures int64
		letter            string // part of it; empty for none
	}{
		{"200", answers(200), 1, nil, 1, 0, 0, 0, ""},
		{"299", answers(299), 1, nil, 1, 0, 0, 0, ""},
		{"400 is final", answers(400), 1, nil, 0, 1, 0, 1, `"error":"sink delivery failure: permanent delivery failure: webhook w: HTTP 400 Bad Request"`},
		{"404 is final", answers(404), 1, nil, 0, 1, 0, 1, `HTTP 404 Not Found`},
		{"a status without a name", answers(499), 1, nil, 0, 1, 0, 1, `webhook w: HTTP 499",`},
		{"a status beyond 599 is final", answers(799), 1, nil, 0, 1, 0, 1, `webhook w: HTTP 799",`},
		{"503, then 200", answers(503, 200), 2, []time.Duration{time.Second}, 1, 0, 1, 0, ""},
		{"500 for good", answers(500), 3, []time.Duration{time.Second, 2 * time.Second}, 0, 0, 2, 1, `"error":"sink delivery failure: I/O error: webhook w: HTTP 500 Internal Server Error"`},
		{"429 for good", answers(429), 3, []time.Duration{time.Second, 2 * time.Second}, 0, 0, 2, 1, `"attempts":3`},
		{"a redirect is final, and nobody follows it", &receiver{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://other.example/")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}}, 1, nil, 0, 1, 0, 1, "HTTP 307 Temporary Redirect"},
		{"a redirect to nowhere is final, too", &receiver{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://[")
			w.WriteHeader(http.StatusFound)
		}}, 1, nil, 0, 1, 0, 1, "HTTP 302 Found"},
		{"another protocol is final", answers(http.StatusSwitchingProtocols), 1, nil, 0, 1, 0, 1, "HTTP 101 Switching Protocols"},
		{"an answer that is no HTTP", &receiver{answer: raw("no HTTP\r\n\r\n")}, 3, []time.Duration{time.Second, 2 * time.Second}, 0, 0, 2, 1, `malformed HTTP status code`},
		{"a connection that is closed instead of an answer", &receiver{answer: raw("")}, 3, []time.Duration{time.Second, 2 * time.Second}, 0, 0, 2, 1, `I/O error: webhook w: EOF`},
		{"half an answer", &receiver{answer: raw("HTTP/1.1 200 OK\r\nContent-Le")}, 3, []time.Duration{time.Second, 2 * time.Second}, 0, 0, 2, 1, `malformed MIME header`},
		{"the status counts, even if the body breaks off", &receiver{answer: raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")}, 1, nil, 1, 0, 0, 0, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			virtual(t, titleBody, tc.answer, func(b *bench) {
				b.put(odd("Odd login"))
				time.Sleep(time.Minute)
				synctest.Wait()
				all := tc.answer.all()
				if len(all) != tc.requests || b.ended() != 1 {
					t.Fatalf("%d requests, settled %d, want %d and once", len(all), b.ended(), tc.requests)
				}
				for i, gap := range gaps(all[0].at, all)[1:] {
					if !about(gap, tc.waits[i]) {
						t.Errorf("wait %d is %s, want about %s", i+1, gap, tc.waits[i])
					}
				}
				success, final, limited, observed := b.outcomes()
				if success != tc.success || final != tc.final || limited != 0 || observed != success+final {
					t.Errorf("success %d, final %d, limited %d, observed %d, want %d, %d, 0 and their sum", success, final, limited, observed, tc.success, tc.final)
				}
				if d := b.detail(); d.Retries != tc.retries || d.DeliveryFailures != tc.failures || d.Dropped != 0 {
					t.Errorf("detail %+v, want %d retries and %d failures", d, tc.retries, tc.failures)
				}
				if tc.letter == "" {
					if lines := b.letters.Lines(); len(lines) > 0 {
						t.Errorf("dead letters %s", lines)
					}
				} else if got := b.letter(); !strings.Contains(got, tc.letter) || !strings.Contains(got, `"sink":"w"`) || !strings.Contains(got, `rule_title\":\"Odd login`) {
					t.Errorf("dead letter %s, want %s", got, tc.letter)
				}
			})
		})
	}
}

// raw answers with bytes and closes the connection.
func raw(text string) func(int, http.ResponseWriter, *http.Request) {
	return func(_ int, w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = conn.Write([]byte(text))
		_ = conn.Close()
	}
}

func TestRetryAfterIsObeyedUnscaled(t *testing.T) {
	for _, tc := range []struct {
		name   string
		first  int
		header func(now time.Time) string
		want   time.Duration
		about  bool // the receiver asks for nothing: the usual wait
	}{
		{"seconds", 429, func(time.Time) string { return "7" }, 7 * time.Second, false},
		{"more than a minute", 503, func(time.Time) string { return "600" }, time.Minute, false},
		{"more seconds than a number has", 503, func(time.Time) string { return strings.Repeat("9", 40) }, time.Minute, false},
		{"a date", 503, func(now time.Time) string { return now.Add(9 * time.Second).UTC().Format(http.TimeFormat) }, 9 * time.Second, false},
		{"a date far away", 429, func(now time.Time) string { return now.Add(time.Hour).UTC().Format(http.TimeFormat) }, time.Minute, false},
		{"a date that is over", 429, func(now time.Time) string { return now.Add(-time.Hour).UTC().Format(http.TimeFormat) }, time.Second, true},
		{"less than the usual wait", 429, func(time.Time) string { return "0" }, time.Second, true},
		{"nonsense", 429, func(time.Time) string { return "soon" }, time.Second, true},
		{"a negative number", 429, func(time.Time) string { return "-5" }, time.Second, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to := &receiver{answer: func(n int, w http.ResponseWriter, _ *http.Request) {
				if n == 0 {
					w.Header().Set("Retry-After", tc.header(time.Now()))
					w.WriteHeader(tc.first)
				}
			}}
			virtual(t, titleBody, to, func(b *bench) {
				b.put(odd("x"))
				time.Sleep(2 * time.Minute)
				all := to.all()
				if len(all) != 2 {
					t.Fatalf("%d requests, want 2", len(all))
				}
				if got := all[1].at.Sub(all[0].at); tc.about && !about(got, tc.want) || !tc.about && got != tc.want {
					t.Errorf("second request after %s, want %s", got, tc.want)
				}
				if success, _, _, _ := b.outcomes(); success != 1 {
					t.Errorf("success %d, want 1", success)
				}
			})
		})
	}
}

func TestRetrySettings(t *testing.T) {
	to := answers(500)
	virtual(t, titleBody+"    retry: {attempts: 6, backoff: 2s, max_backoff: 5s}\n", to, func(b *bench) {
		b.put(odd("x"))
		time.Sleep(time.Minute)
		all := to.all()
		if len(all) != 6 {
			t.Fatalf("%d requests, want 6", len(all))
		}
		for i, want := range []time.Duration{2, 4, 5, 5, 5} {
			if got := all[i+1].at.Sub(all[i].at); !about(got, want*time.Second) {
				t.Errorf("wait %d is %s, want about %ds", i+1, got, want)
			}
		}
	})
}

func TestAHangingReceiverIsGivenUpInTime(t *testing.T) {
	to := &receiver{answer: func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}
	virtual(t, titleBody+"    timeout: 3s\n    retry: {attempts: 2, backoff: 0s}\n", to, func(b *bench) {
		begun := time.Now()
		b.put(odd("x"))
		time.Sleep(10 * time.Second)
		all := to.all()
		if len(all) != 2 || all[1].at.Sub(begun) != 3*time.Second {
			t.Fatalf("requests %v, want the second after 3s", gaps(begun, all))
		}
		if got := b.letter(); !strings.Contains(got, "I/O error: webhook w: no answer within 3s") {
			t.Errorf("dead letter %s", got)
		}
	})
}

func TestAnAnswerThatDripsHoldsNoDeliveryUp(t *testing.T) {
	for _, tc := range []struct {
		name string
		code int
		want [4]int // successes, permanent failures, requests, retries
	}{
		{"the status says delivered", http.StatusOK, [4]int{2, 0, 2, 0}},
		{"the status says never", http.StatusBadRequest, [4]int{0, 2, 2, 0}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to := &receiver{answer: func(_ int, w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(tc.code)
				for r.Context().Err() == nil {
					_, _ = w.Write([]byte("{"))
					w.(http.Flusher).Flush()
					time.Sleep(100 * time.Millisecond)
				}
			}}
			virtual(t, titleBody+"    timeout: 1h\n", to, func(b *bench) {
				begun := time.Now()
				b.put(odd("x"))
				b.put(odd("y"))
				time.Sleep(5 * time.Second)
				if got := gaps(begun, to.all()); len(got) != 2 || got[1] != time.Second {
					t.Fatalf("requests %v, want the second after 1s", got)
				}
				success, permanent, _, _ := b.outcomes()
				if got := [4]int{success, permanent, len(to.all()), int(b.detail().Retries)}; got != tc.want || b.ended() != 2 {
					t.Errorf("successes, permanent failures, requests, retries: got %v, want %v; %d ended", got, tc.want, b.ended())
				}
			})
		})
	}
}

func TestTheEndOfTheDrainCutsEverythingShort(t *testing.T) {
	for _, tc := range []struct {
		name, settings string
		to             *receiver
	}{
		{"a request", "", &receiver{answer: func(_ int, _ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }}},
		{"a wait for the rate limit", "    rate_limit: {requests: 1, per: 1h}\n", answers(200)},
		{"a wait that the receiver asked for", "", &receiver{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "60")
			w.WriteHeader(429)
		}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			virtual(t, titleBody+tc.settings, tc.to, func(b *bench) {
				b.put(odd("first"))
				b.put(odd("second"))
				time.Sleep(time.Second)
				begun := time.Now()
				ctx, cancel := contextOf(t, 2*time.Second)
				defer cancel()
				b.system.Drain(ctx)
				if took := time.Since(begun); took > 4*time.Second {
					t.Errorf("the drain took %s", took)
				}
				if got := strings.Join(b.letters.Lines(), "\n"); !strings.Contains(got, "drain timeout") {
					t.Errorf("dead letters %s, want those of a drain that ended", got)
				}
			})
		})
	}
}

func TestRateLimit(t *testing.T) {
	to := answers(200)
	virtual(t, titleBody+"    rate_limit: {requests: 2, per: 100ms}\n", to, func(b *bench) {
		begun := time.Now()
		b.put(odd("1"), odd("2"), odd("3"))
		time.Sleep(time.Second)
		got := gaps(begun, to.all())
		if len(got) != 3 || got[0] != 0 || got[1] != 0 || got[2] < 49*time.Millisecond || got[2] > 51*time.Millisecond {
			t.Fatalf("waits %v, want the third after 50ms", got)
		}
		if _, _, limited, _ := b.outcomes(); limited != 1 {
			t.Errorf("limited %d, want 1", limited)
		}
		b.put(odd("4"), odd("5"), odd("6")) // the bucket is full again
		time.Sleep(time.Second)
		if all := to.all(); len(all) != 6 || all[4].at != all[3].at || all[5].at.Sub(all[4].at) < 49*time.Millisecond {
			t.Errorf("requests %v, want the last one to wait", gaps(begun, all))
		}
	})
}

func TestRetriesTakeTokensOfTheRateLimit(t *testing.T) {
	to := answers(500, 500, 200)
	virtual(t, titleBody+"    rate_limit: {requests: 1, per: 10s}\n    retry: {backoff: 0s}\n", to, func(b *bench) {
		begun := time.Now()
		b.put(odd("1"))
		time.Sleep(time.Minute)
		if got := gaps(begun, to.all()); len(got) != 3 || got[1] != 10*time.Second || got[2] != 10*time.Second {
			t.Errorf("waits %v, want 10s before each retry", got)
		}
		if _, _, limited, _ := b.outcomes(); limited != 2 {
			t.Errorf("limited %d, want 2", limited)
		}
	})
}

func TestWhatAWebhookIsNotForTakesNoPlace(t *testing.T) {
	to := answers(200)
	virtual(t, titleBody+"    scope: {levels: [critical]}\n", to, func(b *bench) {
		high := detection(ast.Meta{Title: "high", Level: ast.LevelHigh}, "")
		critical := detection(ast.Meta{Title: "critical", Level: ast.LevelCritical}, "")
		if b.put(high) || b.put(correlated(t, 1)) {
			t.Error("the sink is offered what its webhook is not for")
		}
		if stats := b.sink.Lane().Stats(); stats.Depth != 0 {
			t.Errorf("depth %d, want 0", stats.Depth)
		}
		b.put(high, critical, high)
		time.Sleep(time.Second)
		if got := to.bodies(); len(got) != 1 || got[0] != "critical" || b.ended() != 3 {
			t.Errorf("bodies %q, settled %d, want the critical one and all", got, b.ended())
		}
	})
}

func TestOneResultThatCannotBeDeliveredHoldsNoOtherBack(t *testing.T) {
	to := &receiver{answer: func(n int, w http.ResponseWriter, _ *http.Request) {
		if n == 1 {
			w.WriteHeader(http.StatusBadRequest)
		}
	}}
	virtual(t, "    body: '${detection.rule.title}'\n    headers: {content-type: text/plain, X-T: '${detection.rule.title}'}\n", to, func(b *bench) {
		b.put(odd("first"), odd("refused"), odd("line\nbreak"), odd("last"))
		time.Sleep(time.Minute)
		if got := strings.Join(to.bodies(), " "); got != "first refused last" || b.ended() != 1 {
			t.Errorf("bodies %q, settled %d", got, b.ended())
		}
		letters := strings.Join(b.letters.Lines(), "\n")
		for _, want := range []string{"permanent delivery failure: webhook w: HTTP 400 Bad Request", "permanent delivery failure: webhook w: header X-T: byte 5 is 0x0a"} {
			if !strings.Contains(letters, want) {
				t.Errorf("dead letters lack %q:\n%s", want, letters)
			}
		}
		if success, final, _, observed := b.outcomes(); success != 2 || final != 1 || observed != 3 {
			t.Errorf("success %d, final %d, observed %d, want 2, 1, 3", success, final, observed)
		}
	})
}

func TestRequests(t *testing.T) {
	for _, tc := range []struct {
		name, settings string
		want           string // method, host, URI, headers by name, body
	}{
		{"a body is JSON unless something else is said", "    body: '{\"t\":\"${detection.rule.title}\"}'\n", `POST receiver.example /hook Content-Type=application/json {"t":"Odd \"login\""}`},
		{"without a body there is no type", "", "POST receiver.example /hook Content-Type= "},
		{"an empty body is a body", "    body: ''\n", "POST receiver.example /hook Content-Type=application/json "},
		{"another method and headers", "    method: put\n    headers: {X-Api-Key: '${KEY}', content-type: text/plain}\n    body: '${detection.rule.title}'\n", `PUT receiver.example /hook Content-Type=text/plain X-Api-Key=sluice-test-key Odd "login"`},
		{"a GET without a body", "    method: get\n", "GET receiver.example /hook Content-Type= "},
		{"another host", "    headers: {Host: other.example}\n", "POST other.example /hook Content-Type= "},
	} {
		t.Run(tc.name, func(t *testing.T) {
			to := answers(200)
			virtual(t, tc.settings, to, func(b *bench) {
				b.put(odd(`Odd "login"`))
				time.Sleep(time.Second)
				all := to.all()
				if len(all) != 1 {
					t.Fatalf("%d requests", len(all))
				}
				a := all[0]
				got := fmt.Sprintf("%s %s %s Content-Type=%s ", a.method, a.host, a.uri, a.header.Get("Content-Type"))
				if key := a.header.Get("X-Api-Key"); key != "" {
					got += "X-Api-Key=" + key + " "
				}
				if got += a.body; got != tc.want {
					t.Errorf("got  %s\nwant %s", got, tc.want)
				}
			})
		})
	}
}

func TestEveryAttemptIsLoggedWithoutSecrets(t *testing.T) {
	var log bytes.Buffer
	to := answers(503, 200)
	w := load(t, "webhooks:\n  - {id: w, kind: detection, url: 'http://u:hunter2@receiver.example/hunter2', headers: {X-Key: hunter2}, retry: {backoff: 1ms}}\n", nil)[0]
	synctest.Test(t, func(t *testing.T) {
		listener := newPipes()
		server := &http.Server{Handler: to}
		go func() { _ = server.Serve(listener) }()
		metrics, err := webhook.NewMetrics(prometheus.NewRegistry())
		if err != nil {
			t.Fatal(err)
		}
		clients := webhook.Clients{New: func(*tls.Config) *http.Client {
			return &http.Client{Transport: &http.Transport{DialContext: listener.dial, DisableKeepAlives: true}}
		}}
		transport := clients.Open(w, metrics, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
		messages := []graph.Message{{Envelope: &graph.Envelope{}}}
		for range 2 {
			_, _ = transport.Write(t.Context(), messages)
		}
		_ = server.Close()
		_, _ = transport.Write(t.Context(), messages)
		_ = listener.Close()
	})
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 3 || strings.Contains(log.String(), "hunter2") {
		t.Fatalf("log:\n%s", log.String())
	}
	for i, want := range []string{
		`level=DEBUG msg="webhook request" webhook=w status=503 duration=0s`, `level=DEBUG msg="webhook request" webhook=w status=200 duration=0s`,
		`level=DEBUG msg="webhook request failed" webhook=w err="use of closed network connection" duration=0s`,
	} {
		if !strings.HasSuffix(lines[i], want) {
			t.Errorf("got %s, want %s", lines[i], want)
		}
	}
	for _, a := range to.all() {
		if user, password, _ := (&http.Request{Header: a.header}).BasicAuth(); user != "u" || password != "hunter2" || a.header.Get("X-Key") != "hunter2" {
			t.Errorf("headers %v", a.header)
		}
	}
}
