package dedup

import (
	"cmp"

	"github.com/sluicehq/sluice/graph/alert/incident"
)

// Alert is an active alert. It belongs to its store, and is valid until the next tick.
type Alert struct {
	lastSeen, lastEmitted int64
	fires, emitted        int64
	in                    incident.Ref
	*opening              // nil for one that is not used
	slot                  int32
	untold                bool // more results came than the last record said
}

// Incident is the incident that the alert names.
func (a *Alert) Incident() incident.Ref { return a.in }

// opening is what an alert keeps of the result that opened it. It never changes.
type opening struct {
	first  int64
	digest uint64
	key    string
	memory []byte // how the fingerprint is shown, the fields and the sample
	shown  int    // end of the first in memory
	fields int    // end of the second
}

// size is how many bytes it holds.
func (o *opening) size() int { return len(o.key) + cap(o.memory) }

func (o *opening) fingerprint() []byte { return o.memory[:o.shown:o.shown] }
func (o *opening) values() []byte      { return o.memory[o.shown:o.fields:o.fields] }
func (o *opening) sample() []byte      { return o.memory[o.fields:] }

// compare is the order of alerts in output: the first comes first.
func (o *opening) compare(other *opening) int {
	return cmp.Or(
		cmp.Compare(o.first, other.first),
		cmp.Compare(string(o.fingerprint()), string(other.fingerprint())),
		cmp.Compare(o.key, other.key),
	)
}
