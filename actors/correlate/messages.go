package correlate

// Export asks the stage for its state as it is between two lines. The reply is a
// *correlation.View, which is read outside the actor.
type Export struct{}
