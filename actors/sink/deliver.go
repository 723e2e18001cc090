package sink

import (
	"context"

	"github.com/sluicehq/sluice/graph"
)

// Deliver takes items through a transport in order, outside of the actors, as a sink of
// kind k does: with its batches, retries and pauses. The messages of an item belong
// together.
//
// The outcome of an item is nil, or what it failed with: an error for which IsPermanent
// holds ended one message of it at least, and the rest went on. Any other error ends
// the delivery, and the items behind it have one, too. retried is told before each pause,
// and with attempt 0 what a destination remarked of messages that it took.
func Deliver(ctx context.Context, k Kind, t Transport, r Retry, items [][]graph.Message, retried func(attempt int, err error)) []error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	causes := make([]error, len(items))
	keep := func(d *Delivery[int], _ int, err error) {
		if causes[d.Item] == nil {
			causes[d.Item] = err
		}
	}
	batch := make([]Delivery[int], len(items))
	for i, messages := range items {
		batch[i] = Delivery[int]{Item: i, Messages: messages}
	}
	c := retrier[int]{transport: t, retry: r, whole: k.row().unit, report: outcomes[int]{
		done:   func([]Delivery[int]) {},
		parked: keep,
		failed: func(d *Delivery[int], attempts int, err error) {
			keep(d, attempts, err)
			if !IsPermanent(err) {
				stop()
			}
		},
		retried: retried,
		partial: func(err error) { retried(0, err) },
		panics:  func(string, []byte) {}, // the second panic of an item is its outcome
	}}
	c.deliver(ctx, batch, attempt{})
	return causes
}
