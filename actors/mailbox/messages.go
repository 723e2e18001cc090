package mailbox

// Tick is the actor's timer. At most one waits, and it waits while data is held. An
// actor that is not through with one calls Cell.Resume.
type Tick struct{}

// Lifecycle marks requests that are not subject to the capacity of the control
// lane.
type Lifecycle interface{ Lifecycle() }
