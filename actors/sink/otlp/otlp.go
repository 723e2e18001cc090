package otlp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/certs"
	"github.com/sluicehq/sluice/internal/ratelog"
	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/otlp/export"
)

// service names the resource and the scope of all records.
const service = "sluice"

// maxRequest is how long a request may become before a batch goes on in another one.
// Receivers refuse more than 4 MiB over gRPC.
const maxRequest = 2 << 20

// Transport sends to one receiver. Reopen may be called from any goroutine, the other
// methods belong to one sink.
type Transport struct {
	client  *export.Client
	request *otlp.Request
	log     *slog.Logger
	partial error       // told beside the next messages that are all confirmed; nil for none
	stale   atomic.Bool // Reopen was called
	stuck   ratelog.Limit
	now     func() time.Time
}

// Open makes the transport of a spec. It reads the files of certificates and does not
// connect.
func Open(scheme, target string, parameters map[string]string, version string, now func() time.Time, log *slog.Logger) (*Transport, error) {
	o, err := settings(scheme, target, parameters)
	if err != nil {
		return nil, err
	}
	o.Now = now
	return New(o, version, log)
}

// New makes a transport that sends as o says.
func New(o export.Options, version string, log *slog.Logger) (*Transport, error) {
	t := &Transport{request: otlp.NewRequest(service, version), log: log, now: o.Now}
	o.Agent, o.Failed = service+"/"+version, func(err error) { t.warn(certs.NotRenewed, err) }
	var err error
	if t.client, err = export.New(o); err != nil {
		return nil, err
	}
	return t, nil
}

// Write sends messages in requests that are not too long.
func (t *Transport) Write(ctx context.Context, messages []graph.Message) (confirmed int, err error) {
	if t.stale.CompareAndSwap(true, false) {
		t.reload()
	}
	defer t.request.Reset() // it keeps nothing of the messages
	for confirmed < len(messages) {
		t.request.Reset()
		for i := range messages[confirmed:] {
			m := &messages[confirmed+i]
			if i > 0 && t.request.Size()+len(m.Body) > maxRequest {
				break
			}
			t.request.Add(m.Body)
		}
		n := t.request.Len()
		if err := t.client.Send(ctx, t.request); err != nil {
			var partial *export.Partial
			if !errors.As(err, &partial) {
				return confirmed, &refused{err, n}
			}
			t.partial = partial
		}
		confirmed += n
	}
	err, t.partial = t.partial, nil
	return confirmed, err
}

// refused is a request that was not taken.
type refused struct {
	error
	messages int
}

func (r *refused) Unwrap() error { return r.error }

// Messages is how many messages the error is about.
func (r *refused) Messages() int { return r.messages }

// Abandon does nothing: a request is taken or not.
func (t *Transport) Abandon() {}

// Reopen has the files of certificates read again before the next request.
func (t *Transport) Reopen() { t.stale.Store(true) }

func (t *Transport) reload() {
	if err := t.client.Reload(); err != nil {
		t.warn("certificates of an OTLP sink not read again, the old ones stay in use", err)
	}
}

// warn tells of a condition that may repeat, from any goroutine.
func (t *Transport) warn(text string, err error) {
	if kept, ok := t.stuck.Allow(text, 1, t.now()); ok {
		t.log.Warn(text, "err", err, "suppressed", kept)
	}
}

// Close ends the connection.
func (t *Transport) Close() error {
	if err := t.client.Close(); err != nil {
		return fmt.Errorf("close OTLP connection: %w", err)
	}
	return nil
}
