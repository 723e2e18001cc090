package deadletters

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/internal/redact"
)

// Target takes the results of failed deliveries.
type Target interface {
	// File is the path that is written to; empty when there is none.
	File() string
	// Close flushes and releases what is open.
	Close() error
	// takes reports whether the results of a record belong there. The error is a *Missing.
	takes(r *Record) (bool, error)
	// messages makes the messages of a record that it takes. With an error they will never
	// be sent.
	messages(r *Record, place int64, now time.Time) ([]graph.Message, error)
	// send delivers records in order and returns what became of each: nil, or why its
	// results will never be taken. With an error the rest of the records, those without an
	// outcome, were not delivered.
	send(ctx context.Context, records []pending) (done []error, err error)
}

// sinkTarget is a sink that takes results as native lines.
type sinkTarget struct {
	spec      sink.Spec
	retry     sink.Retry
	transport sink.Transport
	retried   func(attempt int, err error)
}

// ParseTarget reads the spec of a sink. Warnings are about parameters that are ignored.
func ParseTarget(text string) (sink.Spec, []string, error) {
	spec, warnings, err := sink.ParseSpec(text, sink.RoleDLQ)
	if err != nil {
		return sink.Spec{}, nil, err
	}
	for i, w := range warnings {
		warnings[i] = strings.Replace(w, "on the dead letter queue, which always blocks", "by a replay, which always waits", 1)
	}
	return spec, warnings, nil
}

// OpenTarget opens the sink. retried is told of each failed attempt that is not the last.
func OpenTarget(spec sink.Spec, retry sink.Retry, e sink.Environment, retried func(attempt int, err error)) (Target, error) {
	t, err := sink.Open(spec, e)
	if err != nil {
		return nil, err
	}
	return &sinkTarget{spec: spec, retry: retry, transport: t, retried: retried}, nil
}

// Close flushes and releases the sink.
func (t *sinkTarget) Close() error { return t.transport.Close() }

// File is the path that the sink writes to; empty for other kinds.
func (t *sinkTarget) File() string {
	if t.spec.Kind == sink.KindFile {
		return t.spec.Target
	}
	return ""
}

func (t *sinkTarget) takes(*Record) (bool, error) { return true, nil }

func (t *sinkTarget) messages(r *Record, place int64, now time.Time) ([]graph.Message, error) {
	return messages(r, place, now)
}

func (t *sinkTarget) send(ctx context.Context, records []pending) ([]error, error) {
	items := make([][]graph.Message, len(records))
	for i, p := range records {
		items[i] = p.messages
		for n := range p.messages {
			p.messages[n].Body = t.spec.Kind.Body(p.messages[n].Body)
		}
	}
	outcomes := sink.Deliver(ctx, t.spec.Kind, t.transport, t.retry, items, t.retried)
	done, err := settled(ctx, outcomes)
	if err != nil && ctx.Err() == nil {
		err = fmt.Errorf("sink '%s': %w", redact.Text(t.spec.Text), err)
	}
	return done, err
}

// settled are the leading outcomes that are for good. The first one that is not is the
// error.
func settled(ctx context.Context, outcomes []error) (done []error, err error) {
	for _, cause := range outcomes {
		if cause != nil && !sink.IsPermanent(cause) {
			if ctx.Err() != nil {
				return done, ctx.Err()
			}
			return done, cause
		}
		done = append(done, cause)
	}
	return done, nil
}

// messages makes the messages of a record's results, native lines.
func messages(r *Record, place int64, now time.Time) ([]graph.Message, error) {
	lines, err := r.results()
	if err != nil {
		return nil, err
	}
	e := r.envelope(place, now)
	out := make([]graph.Message, len(lines))
	for i, body := range lines {
		out[i] = graph.Message{Envelope: e, Index: i, Kind: kindOf(body), Body: body}
	}
	return out, nil
}

// envelope is that of the messages of a record. The id follows from the line of the file,
// so that a destination that knows ids sees a repetition as one.
func (r *Record) envelope(place int64, now time.Time) *graph.Envelope {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d\x00%s\x00%s\x00%s", place, r.Time.Format(time.RFC3339Nano), r.Sink, r.Original))
	return &graph.Envelope{ID: graph.DeliveryID(sum[:16]), Time: now}
}

// kindOf tells what a native line is: correlations and incidents have members of their own.
func kindOf(body []byte) graph.Kind {
	var m struct {
		Correlation *string `json:"correlation_type"`
		Incident    *string `json:"incident_id"`
	}
	_ = json.Unmarshal(body, &m) // any object is a detection at least
	switch {
	case m.Correlation != nil:
		return graph.KindCorrelation
	case m.Incident != nil:
		return "incident"
	}
	return graph.KindDetection
}
