package deadletters

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sluicehq/sluice/actors/sink"
	"github.com/sluicehq/sluice/actors/sink/webhook"
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/graph/native"
)

// webhooks are a Target: each record goes to the webhook that it names, which renders its
// results as it did before.
type webhooks struct {
	byID    map[string]*outlet
	retried func(attempt int, err error)
}

// outlet is one webhook.
type outlet struct {
	form      graph.Form
	transport sink.Transport
	retry     sink.Retry
}

// OpenWebhooks makes a Target of webhooks. It connects with the first result. retried is
// told of each failed attempt that is not the last.
func OpenWebhooks(all []*webhook.Webhook, open func(*webhook.Webhook) sink.Transport, retried func(attempt int, err error)) Target {
	w := &webhooks{byID: make(map[string]*outlet, len(all)), retried: retried}
	for _, one := range all {
		w.byID[one.ID] = &outlet{one.Form(), open(one), sink.RetryOf(one)}
	}
	return w
}

// File implements Target.
func (*webhooks) File() string { return "" }

// Close implements Target.
func (w *webhooks) Close() (err error) {
	for _, to := range w.byID {
		err = errors.Join(err, to.transport.Close())
	}
	return err
}

// takes leaves the results of other sinks out. Those of a webhook that is not there are
// not: most likely its id was mistyped.
func (w *webhooks) takes(r *Record) (bool, error) {
	switch {
	case w.byID[r.Sink] != nil:
		return true, nil
	case r.Sink == "" || sink.IsLabel(r.Sink):
		return false, nil
	}
	return false, &Missing{ID: r.Sink, Number: r.Number, There: slices.Sorted(maps.Keys(w.byID))}
}

// Missing ends a replay before a record of a webhook that the files do not have.
type Missing struct {
	ID     string
	Number int      // of the record
	There  []string // the ids of the webhooks that the files have
	files  string
}

// maxThere is how many ids of webhooks a message names.
const maxThere = 10

func (m *Missing) Error() string {
	there := m.There
	if len(there) > maxThere {
		there = append(slices.Clone(there[:maxThere]), fmt.Sprintf("%d more", len(m.There)-maxThere))
	}
	return fmt.Sprintf("no webhook in %s has the id %q (there: %s); dead letter %d and those behind it wait: mend the id and replay again, or choose other dead letters with --sink",
		m.files, m.ID, strings.Join(there, ", "), m.Number)
}

func (w *webhooks) messages(r *Record, place int64, now time.Time) ([]graph.Message, error) {
	lines, err := r.results()
	if err != nil {
		return nil, err
	}
	e, to := r.envelope(place, now), w.byID[r.Sink]
	out := make([]graph.Message, len(lines))
	for i, line := range lines {
		one, err := native.Parse(line)
		if err != nil {
			return nil, fmt.Errorf("value %d of original_event: %w", i+1, err)
		}
		p := graph.Payload{Result: one}
		if !to.form.Accepts(p) {
			return nil, fmt.Errorf("webhook '%s' does not take value %d of original_event, a %s: its kind or its scope leaves it out", r.Sink, i+1, p.Kind())
		}
		out[i] = graph.Message{Envelope: e, Index: i, Kind: p.Kind()}
		if out[i].Body, err = to.form.Append(nil, p, &out[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (w *webhooks) send(ctx context.Context, records []pending) (done []error, err error) {
	for len(records) > 0 && err == nil {
		id, n := records[0].Sink, 1
		for n < len(records) && records[n].Sink == id {
			n++
		}
		var some []error
		some, err = w.deliver(ctx, id, records[:n])
		done, records = append(done, some...), records[n:]
	}
	return done, err
}

// deliver sends neighbours that one webhook takes.
func (w *webhooks) deliver(ctx context.Context, id string, records []pending) ([]error, error) {
	items := make([][]graph.Message, len(records))
	for i, p := range records {
		items[i] = p.messages
	}
	to := w.byID[id]
	return settled(ctx, sink.Deliver(ctx, sink.KindWebhook, to.transport, to.retry, items, w.retried))
}
