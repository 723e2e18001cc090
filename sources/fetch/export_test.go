//go:build !no_nats

package fetch

import "context"

// SubscribeWithin is Subscribe with another bound of what the library holds.
func (c *Client) SubscribeWithin(ctx context.Context, d *Declaration, bytes int, take func(Pushed)) error {
	return c.push(ctx, d, bytes, take)
}
