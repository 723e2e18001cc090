package actors

import "errors"

// NameDLQ is the name of the actor that writes dead letters.
const NameDLQ = "dlq"

// MaxCapacity is the largest capacity of a data lane, in units.
const MaxCapacity = 1_000_000

// ErrCapacity is wrapped by the error of a capacity out of bounds.
var ErrCapacity = errors.New("mailbox capacity must be between 1 and 1000000")
