package correlate

import (
	"context"

	"github.com/sluicehq/sluice/actors"
	"github.com/sluicehq/sluice/sigma/correlation"
)

// Client asks the stage.
type Client struct{ actor *actors.Client }

// NewClient returns a client of the stage's actor.
func NewClient(c *actors.Client) *Client { return &Client{c} }

// Export returns the state of all correlations at one moment. Errors are those of
// actors.Ask.
func (c *Client) Export(ctx context.Context) (*correlation.View, error) {
	return actors.Ask[*correlation.View](ctx, c.actor, Export{})
}
