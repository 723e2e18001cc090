package kafka

import (
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
	all = append(all, kgo.RecordHeader{Key: headerID, Value: m.AppendID(nil, label, firstLabel)})
	if m.Kind != "" {
		all = append(all, kgo.RecordHeader{Key: headerKind, Value: []byte(m.Kind)})
	}
	for _, h := range own {
		all = append(all, kgo.RecordHeader{Key: h.Name, Value: []byte(h.Value)})
	}
	return all
}
