package otlp

import (
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// Where an export of log records goes.
const (
	Path   = "/v1/logs"                                                  // over HTTP
	Method = "/opentelemetry.proto.collector.logs.v1.LogsService/Export" // over gRPC
)

// Default ports of receivers.
const (
	PortGRPC = "4317"
	PortHTTP = "4318"
)

// Request is an export of log records that have one resource and one scope.
type Request struct {
	resource []byte // with its field
	scope    []byte // with its field
	records  [][]byte
	size     int // of the records with their fields
}

// NewRequest returns a request without records. The resource is the named service, and
// the scope has the same name.
func NewRequest(service, version string) *Request {
	attribute := appendString(nil, place{fieldElement, true, "service.name"}, service)
	scope := field(nil, 1, []byte(service))
	if version != "" {
		scope = field(scope, 2, []byte(version))
	}
	return &Request{resource: field(nil, 1, attribute), scope: field(nil, 1, scope)}
}

func field(dst []byte, number protowire.Number, content []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(dst, number, protowire.BytesType), content)
}

// Reset takes all records out.
func (r *Request) Reset() {
	clear(r.records)
	r.records, r.size = r.records[:0], 0
}

// Add adds a record, which stays the caller's and must not change before Reset.
func (r *Request) Add(record []byte) {
	r.records = append(r.records, record)
	r.size += 1 + uvarintSize(len(record)) + len(record)
}

// Len is the number of records.
func (r *Request) Len() int { return len(r.records) }

// Size is the length of the request.
func (r *Request) Size() int {
	_, _, size := r.sizes()
	return size
}

func (r *Request) sizes() (scoped, resourced, size int) {
	scoped = len(r.scope) + r.size
	resourced = len(r.resource) + 1 + uvarintSize(scoped) + scoped
	return scoped, resourced, 1 + uvarintSize(resourced) + resourced
}

// Append appends the request.
func (r *Request) Append(dst []byte) []byte {
	const resourceLogs, scopeLogs, logRecord = 1<<3 | 2, 2<<3 | 2, 2<<3 | 2
	scoped, resourced, _ := r.sizes()
	dst = binary.AppendUvarint(append(dst, resourceLogs), uint64(resourced))
	dst = append(dst, r.resource...)
	dst = binary.AppendUvarint(append(dst, scopeLogs), uint64(scoped))
	dst = append(dst, r.scope...)
	for _, record := range r.records {
		dst = binary.AppendUvarint(append(dst, logRecord), uint64(len(record)))
		dst = append(dst, record...)
	}
	return dst
}

// Answer is what a receiver says of an export that it took.
type Answer struct {
	Rejected int64 // records that it did not take after all
	Message  string
}

// AppendAnswer appends an ExportLogsServiceResponse: nothing when all records were taken.
func AppendAnswer(dst []byte, a Answer) []byte {
	if a == (Answer{}) {
		return dst
	}
	var partial []byte
	if a.Rejected != 0 {
		partial = protowire.AppendVarint(protowire.AppendTag(partial, 1, protowire.VarintType), uint64(a.Rejected))
	}
	if a.Message != "" {
		partial = field(partial, 2, []byte(a.Message))
	}
	return field(dst, 1, partial)
}

var errAnswer = errors.New("no export response")

// ParseAnswer reads an ExportLogsServiceResponse.
func ParseAnswer(b []byte) (a Answer, err error) {
	err = eachField(b, func(number protowire.Number, value []byte, _ uint64) error {
		if number != 1 || value == nil {
			return nil
		}
		return eachField(value, func(number protowire.Number, value []byte, n uint64) error {
			switch {
			case number == 1 && value == nil:
				a.Rejected = int64(n)
			case number == 2 && value != nil:
				a.Message = string(value)
			}
			return nil
		})
	})
	return a, err
}

// ParseStatus reads the message of a google.rpc.Status, which receivers answer over HTTP
// when they refuse an export.
func ParseStatus(b []byte) (message string, err error) {
	err = eachField(b, func(number protowire.Number, value []byte, _ uint64) error {
		if number == 2 && value != nil {
			message = string(value)
		}
		return nil
	})
	return message, err
}

// eachField calls f for each field of a message: with the content of one that has a
// length, else with nil and the number of one that is a varint.
func eachField(b []byte, f func(number protowire.Number, content []byte, n uint64) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return fmt.Errorf("%w: %w", errAnswer, protowire.ParseError(n))
		}
		b = b[n:]
		var content []byte
		var value uint64
		switch kind {
		case protowire.BytesType:
			content, n = protowire.ConsumeBytes(b)
			if content == nil {
				content = []byte{}
			}
		case protowire.VarintType:
			value, n = protowire.ConsumeVarint(b)
		default:
			n = protowire.ConsumeFieldValue(number, kind, b)
		}
		if n < 0 {
			return fmt.Errorf("%w: %w", errAnswer, protowire.ParseError(n))
		}
		b = b[n:]
		if kind != protowire.BytesType && kind != protowire.VarintType {
			continue
		}
		if err := f(number, content, value); err != nil {
			return err
		}
	}
	return nil
}
