package sources

import "github.com/sluicehq/sluice/sources/fetch"

// The elements of the lane.
type (
	// due says that the time of some sources has come.
	due struct{}
	// noticed says that the files of sources have changed.
	noticed struct{ entries []*entry }
	// begun starts the timers.
	begun struct{}
	// asked begins a round.
	asked struct{ round *round }
	// controlled is a request of the control subject: a source, or all with nil.
	controlled struct{ entry *entry }
	// forget drops the last value of a source. told receives how removing the row went; it
	// has room for that.
	forget struct {
		entry *entry
		told  chan<- error
	}
	// pushed is what came of messages of a subscription.
	pushed struct {
		entry *entry
		fetch.Pushed
		id identity // of the value, if there is one
	}
)

// resolve asks for a fetch of a source, of all with nil. The reply is a Resolution.
type resolve struct{ entry *entry }

// commit makes the values of a round the current ones. The reply is committed.
type commit struct{ round *round }

type committed struct{}

// Resolution is what became of a request to fetch.
type Resolution string

// The resolutions.
const (
	Accepted Resolution = "accepted"
	Pending  Resolution = "pending"    // an earlier one has not ended
	None     Resolution = "no_sources" // there are none
	Unknown  Resolution = "unknown"    // there are others
)
