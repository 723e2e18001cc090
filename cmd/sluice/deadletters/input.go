package deadletters

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/cmd/sluice/client"
	"github.com/sluicehq/sluice/internal/plural"
	"github.com/sluicehq/sluice/internal/response"
)

// Input is the HTTP input of a daemon.
type Input struct {
	Client *client.Client // with a timeout above the 30 seconds that the daemon may take
	Retry  sink.Retry     // the pauses between attempts; Max is not used
	// Patience is how long the daemon may take no line at all.
	Patience time.Duration
	// Waiting is told of each pause.
	Waiting func(pause time.Duration, err error)
}

const eventsPath = "/api/v1/events"

// farAhead bounds what a daemon can ask for. Patience ends before it.
const farAhead = 10 * 365 * 24 * time.Hour

// refusal is why a daemon will never take a line.
type refusal struct{ text string }

func (e *refusal) Error() string { return e.text }

// post is how a request ended.
type post struct {
	accepted int   // lines that were taken, whatever err is
	err      error // nil when all were
	kind     failure
	after    time.Duration // that the daemon asked for
}

// failure says what to do about an error.
type failure int

const (
	transient failure = iota // the daemon is away or busy
	rejected                 // a line, or the body as a whole, is not taken
	fatal                    // no line will be taken
)

// Error and RetryAfter make a post an error that sink.Retry knows how to wait for.
func (p *post) Error() string             { return p.err.Error() }
func (p *post) RetryAfter() time.Duration { return p.after }

// send sends lines in order and returns what became of each of the first ones: nil, or a
// refusal. With an error the others were not taken. Stop ends it between two requests,
// and work within one.
func (in *Input) send(stop, work context.Context, lines [][]byte) (done []error, err error) {
	attempt, alone := 0, false
	last := time.Now() // something was taken, or refused
	for len(done) < len(lines) {
		if stop.Err() != nil {
			return done, stop.Err()
		}
		part := lines[len(done):]
		if alone {
			part = part[:1]
		}
		p := in.post(work, part)
		for range p.accepted {
			done = append(done, nil)
		}
		if p.accepted > 0 {
			attempt, last = 0, time.Now()
		}
		switch {
		case p.err == nil || p.accepted == len(part): // what was taken is the daemon's, also when commit came late
			alone = false
		case work.Err() != nil:
			return done, work.Err()
		case p.kind == fatal:
			return done, p.err
		case p.kind == rejected && len(part)-p.accepted > 1:
			alone = true // to find out whether it is this line
		case p.kind == rejected:
			done, alone = append(done, &refusal{p.err.Error()}), false
			attempt, last = 0, time.Now()
		default:
			attempt++
			pause := in.Retry.Delay(attempt, &p)
			if time.Since(last)+pause > in.Patience {
				return done, fmt.Errorf("%w (nothing was taken for %s, and the next attempt would be in %s)", p.err, round(time.Since(last)), round(pause))
			}
			in.Waiting(pause, p.err)
			if !wait(stop, pause) {
				return done, stop.Err()
			}
		}
	}
	return done, nil
}

func round(d time.Duration) time.Duration {
	if d < time.Second {
		return d.Round(time.Millisecond)
	}
	return d.Round(time.Second)
}

// wait waits, and reports false when ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// post makes one request and waits until its lines have come to their end.
func (in *Input) post(ctx context.Context, lines [][]byte) post {
	body := append(bytes.Join(lines, []byte("\n")), '\n')
	resp, err := in.Client.Send(ctx, http.MethodPost, eventsPath+"?commit=true", "application/x-ndjson", bytes.NewReader(body))
	if err != nil {
		p := post{err: err, kind: transient}
		if client.IsLasting(err) {
			p.kind = fatal
		}
		return p
	}
	target := in.Client.Place(eventsPath)
	defer func() { _ = resp.Body.Close() }() // what matters has been read
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	var answer struct{ Accepted *int }
	parsed := json.Unmarshal(text, &answer)
	if answer.Accepted != nil && (*answer.Accepted < 0 || *answer.Accepted > len(lines)) {
		answer.Accepted = nil
	}
	var p post
	if answer.Accepted != nil {
		p.accepted = *answer.Accepted
	}
	if resp.StatusCode == http.StatusOK {
		switch {
		case err != nil:
			p.err = fmt.Errorf("POST %s: %s: %w", target, resp.Status, err)
		case parsed != nil || answer.Accepted == nil:
			p.err, p.kind = fmt.Errorf("POST %s: %s: the answer is not that of a daemon", target, resp.Status), fatal
		case p.accepted < len(lines):
			p.err, p.kind = fmt.Errorf("POST %s: %s: only %d of %s accepted", target, resp.Status, p.accepted, plural.Either(len(lines), "line was", "lines were")), rejected
		}
		return p
	}
	p.err = in.Client.Refusal(resp, text)
	p.after = response.RetryAfter(resp.Header, time.Now(), farAhead)
	switch code := resp.StatusCode; {
	case code == http.StatusRequestTimeout, code == http.StatusTooManyRequests, code >= 500:
		p.kind = transient
	case answer.Accepted != nil || code == http.StatusRequestEntityTooLarge:
		p.kind = rejected
	default:
		p.kind = fatal
	}
	return p
}
