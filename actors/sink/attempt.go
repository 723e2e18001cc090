package sink

import "errors"

// attempt is one at the messages of a whole batch, before anybody has to know whose they are.
type attempt struct {
	made      bool
	all       bool // messages are confirmed, and everything has ended
	confirmed int  // of the messages
	err       error
	behind    bool // it was at units before the one in hand, too, which have ended
	counts    bool // behind them, as one of the unit in hand
}

// after is the attempt for the units behind one that has ended, with so many messages. It
// counts for them as long as no unit has made progress: what the destination refused before
// that is over.
func (a attempt) after(end ending, messages int) attempt {
	if !a.made {
		return a
	}
	var poison *panicError
	others := IsPermanent(a.err) || errors.As(a.err, &poison) // it failed for one message
	return attempt{made: true, err: shifted{a.err, messages}, behind: true, counts: end == exhausted && !others && (a.counts || !a.behind)}
}

// shifted is an error that counts its messages from a later one on.
type shifted struct {
	error
	by int
}

func (s shifted) Unwrap() error { return s.error }

// Confirmed tells which messages were taken, if the error knows it.
func (s shifted) Confirmed(i int) bool {
	var some interface{ Confirmed(i int) bool }
	return errors.As(s.error, &some) && some.Confirmed(i+s.by)
}
