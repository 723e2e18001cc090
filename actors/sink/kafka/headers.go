package kafka

import (
	"encoding/hex"
	"strconv"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/sluicehq/sluice/graph"
)

// The headers of a record, beside those that its form gave it.
const (
	headerID   = "sluice-id"   // the same when the result comes again
	headerKind = "sluice-kind" // detection, correlation, dead_letter and the like
)

// firstLabel is the label of the first sink of this kind.
const firstLabel = "kafka"

// headers are those of a message's record.
func headers(m *graph.Message, label string) []kgo.RecordHeader {
	own := m.Headers()
	all := make([]kgo.RecordHeader, 0, 2+len(own))
	all = append(all, kgo.RecordHeader{Key: headerID, Value: id(m, label)})
	if m.Kind != "" {
		all = append(all, kgo.RecordHeader{Key: headerKind, Value: []byte(m.Kind)})
	}
	for _, h := range own {
		all = append(all, kgo.RecordHeader{Key: h.Name, Value: []byte(h.Value)})
	}
	return all
}

// id tells results apart. Where the input can deliver the line again, it is made of the
// line's place, so that it is the same after a restart. All sinks share the id of a
// delivery, so those behind the first add their label: two of them may write to one topic.
func id(m *graph.Message, label string) []byte {
	var dst []byte
	if p := &m.Position; p.Sequence != 0 {
		dst = append(append(dst, p.Stream...), '-')
		dst = append(strconv.AppendUint(dst, p.Sequence, 10), '-')
		dst = append(append(dst, label...), '-')
	} else {
		dst = append(hex.AppendEncode(append(dst, "msg_"...), m.ID[:]), '-')
	}
	dst = strconv.AppendInt(dst, int64(m.Index), 10)
	if m.Position.Sequence == 0 && label != "" && label != firstLabel {
		dst = append(append(dst, '-'), label...)
	}
	return dst
}
