package fetch

// Pushed is what came of messages of a subscription since the last one: each message counts
// in one of them, once.
type Pushed struct {
	// JSON is the value of the newest message that is one, and newer than those before; nil
	// if none is.
	JSON []byte
	// Values are the messages that are values, and those that were passed over: a newer
	// message was a value before they were looked at.
	Values int
	// Failed are the messages that are no values, by why.
	Failed map[ErrorKind]int
	// Err is why the last of them is none; nil without.
	Err *Error
}

// Messages are all of them.
func (p Pushed) Messages() int {
	n := p.Values
	for _, failed := range p.Failed {
		n += failed
	}
	return n
}
