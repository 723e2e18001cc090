package deadletters

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/cmd/sluice/client"
)

// daemon answers requests by a script; behind its end everything is accepted.
type daemon struct {
	script []string // "STATUS [Retry-After=X] BODY", or "error TEXT"
	bodies []string
	times  []time.Duration // of the requests, since the first
	begun  time.Time
	header http.Header // of the last request
	asked  func()      // is told of each request; may be nil
}

func (d *daemon) RoundTrip(r *http.Request) (*http.Response, error) {
	if d.begun.IsZero() {
		d.begun = time.Now()
	}
	if d.asked != nil {
		d.asked()
	}
	d.times = append(d.times, time.Since(d.begun))
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	d.bodies, d.header = append(d.bodies, string(body)), r.Header
	if r.URL.String() != "http://daemon/api/v1/events?commit=true" {
		return nil, fmt.Errorf("asked for %s", r.URL)
	}
	answer := fmt.Sprintf(`200 {"accepted":%d}`, strings.Count(string(body), "\n"))
	if len(d.script) > 0 {
		answer, d.script = d.script[0], d.script[1:]
	}
	status, text, _ := strings.Cut(answer, " ")
	if status == "error" {
		return nil, errors.New(text)
	}
	resp := &http.Response{Header: http.Header{}, Request: r}
	_, _ = fmt.Sscan(status, &resp.StatusCode)
	resp.Status = status + " " + http.StatusText(resp.StatusCode)
	if rest, ok := strings.CutPrefix(text, "Retry-After="); ok {
		var after string
		after, text, _ = strings.Cut(rest, " ")
		resp.Header.Set("Retry-After", strings.ReplaceAll(after, "_", " "))
	}
	resp.Body = io.NopCloser(strings.NewReader(text))
	return resp, nil
}

func (d *daemon) input() *Input {
	c, err := client.New(client.Options{Addr: "http://daemon", Token: "secret", Variable: "TOKEN", Through: d})
	if err != nil {
		panic(err)
	}
	return &Input{
		Client: c, Patience: 5 * time.Minute,
		Retry:   sink.Retry{Base: 100 * time.Millisecond, Cap: 5 * time.Second, Scale: func() float64 { return 1 }},
		Waiting: func(time.Duration, error) {},
	}
}

func TestLinesGoToTheDaemonUntilItTookThem(t *testing.T) {
	const refused = "refused"
	for _, tc := range []struct {
		name   string
		script []string
		bodies string // of the requests, separated by blanks
		took   time.Duration
		want   string // of each line: ok, or why not; then the error
	}{
		{"all at once", nil, "a,b,c", 0, "ok ok ok"},
		{"a busy daemon is asked again when it said", []string{"429 Retry-After=7 {}"}, "a,b,c a,b,c", 7 * time.Second, "ok ok ok"},
		{"a starting daemon, too", []string{`503 Retry-After=1 {"error":"starting"}`, `503 Retry-After=1 {"error":"starting"}`}, "a,b,c a,b,c a,b,c", 2 * time.Second, "ok ok ok"},
		{"a date is a time to wait for", []string{"503 Retry-After=Sat,_01_Jan_2000_00:01:00_GMT {}"}, "a,b,c a,b,c", time.Minute, "ok ok ok"},
		{"without a wish the pauses grow", []string{"500 x", "502 x", "408 {}"}, "a,b,c a,b,c a,b,c a,b,c", 700 * time.Millisecond, "ok ok ok"},
		{"what was taken is not sent again", []string{`503 {"error":"event channel closed","accepted":2}`}, "a,b,c c", 100 * time.Millisecond, "ok ok ok"},
		{"a commit that comes late has its lines", []string{`503 {"error":"commit deadline passed","accepted":3}`}, "a,b,c", 0, "ok ok ok"},
		{"a connection that breaks", []string{"error connection reset"}, "a,b,c a,b,c", 100 * time.Millisecond, "ok ok ok"},
		{"an answer that breaks off", []string{`200 {"acc`}, "a,b,c", 0, "failed: POST http://daemon/api/v1/events: 200 OK: the answer is not that of a daemon"},
		{"an answer of something else", []string{"200 <html>"}, "a,b,c", 0, "failed: POST http://daemon/api/v1/events: 200 OK: the answer is not that of a daemon"},
		{"a line that is too long is refused alone", []string{
			`413 {"error":"line exceeds maximum size","accepted":1}`, `413 {"error":"line exceeds maximum size","accepted":0}`,
		}, "a,b,c b c", 0, "ok " + refused + " ok"},
		{"a body that is too large goes in parts", []string{`413 {"error":"request body exceeds maximum size","accepted":0}`}, "a,b,c a b,c", 0, "ok ok ok"},
		{"a proxy that takes no large bodies", []string{"413 <html>"}, "a,b,c a b,c", 0, "ok ok ok"},
		{
			"a daemon with another input",
			[]string{`404 {"error":"event ingestion not enabled","hint":"start with --input http"}`},
			"a,b,c", 0,
			"failed: POST http://daemon/api/v1/events: 404 Not Found: event ingestion not enabled (start with --input http)",
		},
		{"a token that may not", []string{`403 {"error":"forbidden"}`}, "a,b,c", 0, "failed: POST http://daemon/api/v1/events: 403 Forbidden: forbidden (the token in TOKEN may not do this: set it to one that may, or name another variable with --auth-token-env)"},
		{"a redirect is not followed", []string{"307 "}, "a,b,c", 0, "failed: POST http://daemon/api/v1/events: 307 Temporary Redirect (it leads elsewhere, and redirects are not followed: name the daemon's own address with --addr)"},
		{"a daemon that claims more than it got", []string{`200 {"accepted":9}`}, "a,b,c", 0, "failed: POST http://daemon/api/v1/events: 200 OK: the answer is not that of a daemon"},
		{
			"a wish beyond all patience",
			[]string{`503 Retry-After=301 {"error":"draining","accepted":1}`},
			"a,b,c", 0,
			"ok failed: POST http://daemon/api/v1/events: 503 Service Unavailable: draining (nothing was taken for 0s, and the next attempt would be in 5m1s)",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := &daemon{script: tc.script}
				done, err := d.input().send(t.Context(), t.Context(), [][]byte{[]byte("a"), []byte("b"), []byte("c")})
				var got []string
				for _, e := range done {
					var r *refusal
					switch {
					case e == nil:
						got = append(got, "ok")
					case errors.As(e, &r):
						got = append(got, refused)
					}
				}
				if err != nil {
					got = append(got, "failed: "+err.Error())
				}
				same(t, "outcome", strings.Join(got, " "), tc.want)
				same(t, "requests", strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(strings.Join(d.bodies, " "), "\n"), "\n ", " "), "\n", ","), tc.bodies)
				same(t, "time", d.times[len(d.times)-1], tc.took)
				same(t, "token", d.header.Get("Authorization"), "Bearer secret")
			})
		})
	}
}

func TestADaemonThatStaysAwayIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &daemon{}
		for range 1000 {
			d.script = append(d.script, "503 {}")
		}
		done, err := d.input().send(t.Context(), t.Context(), [][]byte{[]byte("a")})
		contains(t, err, "503 Service Unavailable (nothing was taken for 4m")
		if last := d.times[len(d.times)-1]; len(done) > 0 || last > 5*time.Minute || last < 4*time.Minute {
			t.Errorf("given up after %s", last)
		}
	})
}

func TestAPauseEndsWithTheReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop, interrupt := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, interrupt)
		begun := time.Now()
		d := &daemon{script: []string{`503 Retry-After=200 {"accepted":1}`}}
		done, err := d.input().send(stop, t.Context(), [][]byte{[]byte("a"), []byte("b")})
		same(t, "lines that were taken", len(done), 1)
		same(t, "error", err, context.Canceled)
		same(t, "time", time.Since(begun), time.Minute)
	})
}
