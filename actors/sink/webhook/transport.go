package webhook

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"golang.org/x/time/rate"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/response"
	"github.com/sluicehq/sluice/internal/signing"
	"github.com/sluicehq/sluice/internal/template"
)

// Transport sends the requests of one webhook. It implements the transport of a sink.
type Transport struct {
	w           *Webhook
	client      *http.Client
	fixedHeader http.Header // of a message without an address
	limiter     *rate.Limiter
	series      series
	log         *slog.Logger

	last       string // URL of the request before
	lastParsed *url.URL
}

// Write sends a request for each message and returns how many were confirmed.
func (t *Transport) Write(ctx context.Context, messages []graph.Message) (confirmed int, err error) {
	for i := range messages {
		if err := t.wait(ctx); err != nil {
			return i, err
		}
		if err := t.send(ctx, &messages[i]); err != nil {
			return i, err
		}
	}
	return len(messages), nil
}

// Abandon does nothing: a request is sent whole or again.
func (*Transport) Abandon() {}

// Reopen does nothing: nothing is named by a path.
func (*Transport) Reopen() {}

// Close closes the connections.
func (t *Transport) Close() error {
	t.client.CloseIdleConnections()
	return nil
}

// wait takes a token of the rate limit, and waits until there is one.
func (t *Transport) wait(ctx context.Context) error {
	r := t.limiter.Reserve()
	delay := r.Delay()
	if delay <= 0 {
		return nil
	}
	t.series.limited.Inc()
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		r.Cancel()
		return ctx.Err()
	}
}

// send makes one attempt to deliver a message.
func (t *Transport) send(ctx context.Context, m *graph.Message) error {
	attempt, cancel := context.WithTimeout(ctx, t.w.timeout)
	defer cancel()
	begun := time.Now()
	request, body, err := t.request(attempt, m, begun)
	if err != nil {
		return t.fail(failure{cause: err, permanent: true})
	}
	defer body.withdraw() // the client may still read it
	// Past Client.Do, which reads the target of a redirect even if nobody follows it.
	answer, err := t.client.Transport.RoundTrip(request)
	if err != nil {
		t.log.Debug("webhook request failed", "webhook", t.w.ID, "err", shortened(err), "duration", time.Since(begun))
		return t.unanswered(ctx, attempt, err)
	}
	if answer.StatusCode >= http.StatusOK {
		response.Discard(answer) // a connection whose answer was read to its end is used again
	} else { // it wants to speak another protocol
		_ = answer.Body.Close()
	}
	took := time.Since(begun)
	t.log.Debug("webhook request", "webhook", t.w.ID, "status", answer.StatusCode, "duration", took)
	return t.judge(answer, took)
}

// request makes the request of an attempt.
func (t *Transport) request(ctx context.Context, m *graph.Message, now time.Time) (*http.Request, *payload, error) {
	to, header := t.w.fixedURL, t.fixedHeader.Clone()
	if m.Subject() != "" {
		var err error
		if to, err = t.parse(m.Subject()); err != nil {
			return nil, nil, err
		}
		for _, h := range m.Headers() {
			header.Set(h.Name, h.Value)
		}
	}
	r := (&http.Request{
		Method: t.w.method, URL: to, Host: header.Get("Host"), Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	header.Del("Host") // the request has it
	if to.User != nil && header.Get("Authorization") == "" {
		password, _ := to.User.Password()
		r.SetBasicAuth(to.User.Username(), password)
	}
	body := &payload{data: m.Body}
	if t.w.hasBody {
		if t.w.form.contentType < 0 {
			header.Set("Content-Type", "application/json")
		}
		body.attach(r)
	}
	if t.w.signer != nil {
		t.w.signer.Sign(header, signing.Message{ID: m.ID.String() + "-" + strconv.Itoa(m.Index), Delivered: m.Time, Body: m.Body}, now)
	}
	return r, body, nil
}

// parse reads a rendered URL, that of the request before at no cost.
func (t *Transport) parse(text string) (*url.URL, error) {
	if text == t.last {
		return t.lastParsed, nil
	}
	u, err := template.ParseURL([]byte(text))
	if err != nil {
		return nil, err
	}
	t.last, t.lastParsed = text, u
	return u, nil
}

// unanswered is the error of an attempt without an answer.
func (t *Transport) unanswered(ctx, attempt context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case attempt.Err() != nil:
		return t.fail(failure{cause: fmt.Errorf("no answer within %s", t.w.timeout)})
	}
	return t.fail(failure{cause: shortened(err)})
}

// judge says what an answer means.
func (t *Transport) judge(answer *http.Response, took time.Duration) error {
	code := answer.StatusCode
	f := failure{cause: errors.New(status(code))}
	switch {
	case code == http.StatusTooManyRequests || code >= 500 && code < 600:
		f.after = response.RetryAfter(answer.Header, time.Now(), maxPatience)
		return t.fail(f)
	case code < 200 || code > 299:
		f.permanent = true
		t.series.permanent.Inc()
		t.series.duration.Observe(took.Seconds())
		return t.fail(f)
	}
	t.series.success.Inc()
	t.series.duration.Observe(took.Seconds())
	return nil
}

// status is an answer as messages show it. Its phrase is ours: theirs may be anything.
func status(code int) string {
	if phrase := http.StatusText(code); phrase != "" {
		return fmt.Sprintf("HTTP %d %s", code, phrase)
	}
	return fmt.Sprintf("HTTP %d", code)
}

func (t *Transport) fail(f failure) error {
	f.id = t.w.ID
	return &f
}
