package sink

import (
	"strconv"
	"time"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/event"
)

// StageDelivery is the stage of a dead letter that a sink could not deliver.
const StageDelivery = "delivery"

// AppendDeadLetter appends the record of d as specification part 15 section 7
// orders its keys, ending with LF.
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
	return append(dst, '}', '\n')
}

// appendArray appends the lines as one JSON array: what a dead letter shows of
// results that were not delivered.
func appendArray(dst []byte, lines [][]byte) []byte {
	dst = append(dst, '[')
	for i, line := range lines {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, trimLF(line)...)
	}
	return append(dst, ']')
}

func trimLF(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}
