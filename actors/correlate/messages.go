package correlate

import "github.com/sluicehq/sluice/sigma/correlation"

// Export asks the stage for its state as it is between two lines. The reply is a
// *correlation.View, which is read outside the actor.
type Export struct{}

// Find asks the stage for the groups at N places of an order, from From on, as they are
// between two lines. The reply is Found.
type Find struct {
	Order   *correlation.Order
	From, N int
}

// Found is the page, nil when the order does not hold any more.
type Found struct{ Page *correlation.Page }
