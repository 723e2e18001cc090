package sink

import (
	"strconv"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/event"
)

// StageDelivery is the stage of a dead letter that a sink could not deliver.
const StageDelivery = "delivery"

// AppendDeadLetter appends the record of d, a JSON object, without a line feed.
func AppendDeadLetter(dst []byte, d graph.DeadLetter, now time.Time) []byte {
	dst = append(dst, `{"original_event":`...)
	dst = event.AppendQuoted(dst, d.Original)
	dst = append(dst, `,"error":`...)
	dst = event.AppendQuoted(dst, d.Error)
	dst = append(dst, `,"timestamp":"`...)
	dst = now.UTC().AppendFormat(dst, "2006-01-02T15:04:05.000000Z")
	dst = append(dst, `","stage":`...)
	dst = event.AppendQuoted(dst, d.Stage)
	if d.Stage == StageDelivery {
		dst = append(dst, `,"sink":`...)
		dst = event.AppendQuoted(dst, d.Sink)
		dst = append(dst, `,"attempts":`...)
		dst = strconv.AppendInt(dst, int64(d.Attempts), 10)
	}
	return append(dst, '}')
}
