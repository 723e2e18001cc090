//go:build no_nats

package fetch

import "context"

var errLeftOut = fault(Fetch, "NATS (the feature daemon-nats) is left out of this build, which was made with the tag no_nats")

func (*Client) message(context.Context, *Declaration) (payload, bool, error) {
	return payload{}, false, errLeftOut
}

// Subscribe fails: this build has no NATS.
func (*Client) Subscribe(_ context.Context, d *Declaration, _ func(Pushed)) error {
	return of(context.Background(), d.ID, errLeftOut)
}

// Control fails: this build has no NATS.
func (*Client) Control(context.Context, string, string, func(payload []byte)) error {
	return errLeftOut
}
