package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
)

// recordsWith is a request of records whose attributes have these keys.
func recordsWith(records ...[]string) *logspb.LogsData {
	scope := &logspb.ScopeLogs{}
	for i, keys := range records {
		record := &logspb.LogRecord{SeverityText: "INFO"}
		for j, key := range keys {
			record.Attributes = append(record.Attributes, &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: int64(i - j)}}})
		}
		scope.LogRecords = append(scope.LogRecords, record)
	}
	return &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{ScopeLogs: []*logspb.ScopeLogs{scope}}}}
}

// What is remembered of earlier records changes no event.
func TestRecordsBehindOthersBecomeTheSameEvents(t *testing.T) {
	many := make([][]string, 8)
	for i := range many {
		for j := range 100 {
			many[i] = append(many[i], fmt.Sprintf("key %d of %d", j, i%4))
		}
	}
	var more [][]string
	for i := range 3 * maxKeys / 50 {
		for range 2 {
			keys := make([]string, 50)
			for j := range keys {
				keys[j] = fmt.Sprintf("%d.%d", i, j)
			}
			more = append(more, keys)
		}
	}
	crowd := make([]string, 2*maxKeys)
	for i := range crowd {
		crowd[i] = fmt.Sprint(i)
	}
	for _, tc := range []struct {
		name    string
		records [][]string
	}{
		{"the same keys", [][]string{{"a", "b", "c"}, {"a", "b", "c"}, {"a", "b", "c"}}},
		{"another order", [][]string{{"a", "b", "c"}, {"c", "b", "a"}, {"b", "c", "a"}, {"a", "b", "c"}}},
		{"fewer and more", [][]string{{"a", "b", "c"}, {"a"}, {}, {"a", "c"}, {"a", "b", "c", "d"}}},
		{"a key that repeats at once", [][]string{{"a", "a"}, {"a", "b"}, {"a", "a", "b", "a"}}},
		{"a key that repeats later", [][]string{{"a", "b", "a"}, {"a", "b"}, {"a", "b", "c", "b"}}},
		{"an empty key", [][]string{{""}, {"", ""}, {"a", ""}, {"", "a"}}},
		{"keys of what is no attribute", [][]string{{"severity_text"}, {"a", "severity_text"}, {"body", "body"}, {"timestamp"}, {"trace_id", "a"}}},
		{"keys that look like those of the resource", [][]string{{"resource.a"}, {"a", "scope.name"}, {"resource."}, {"scope", "resource"}}},
		{"keys that have to be escaped", [][]string{{"a\"\\\n\b\f\x00\x7fé"}, {"a\"\\\n\b\f\x00\x7fé", "b"}}},
		{"long keys", [][]string{{strings.Repeat("a", longestKey), strings.Repeat("a", longestKey+1)}, {strings.Repeat("a", 127), strings.Repeat("a", 128), strings.Repeat("a", 20_000)}}},
		{"keys of zero bytes", [][]string{{strings.Repeat("\x00", 8)}, {"", strings.Repeat("\x00", 8), "\x00"}}},
		{"many keys", many},
		{"more keys than are remembered", more},
		{"more in one record", [][]string{crowd, crowd, {"1", "2"}, crowd[:100], crowd[:len(flattener{}.pairs)], crowd[:len(flattener{}.pairs)+1]}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			request := recordsWith(tc.records...)
			if got, want := flattened(t, marshalled(t, request)), plainEvents(request); !slices.Equal(got, want) {
				t.Errorf("got  %.2000q\nwant %.2000q", got, want)
			}
		})
	}
}

// However many keys come, few are remembered.
func TestKeysAreForgotten(t *testing.T) {
	var k keys
	for i := range 10 * maxKeys {
		k.begin()
		if k.once(fmt.Append(nil, i)) == nil && !k.full {
			t.Fatalf("key %d is not found", i)
		}
		if len(k.list) > maxKeys+1 || len(k.slots) != keySlots {
			t.Fatalf("%d keys, %d slots", len(k.list), len(k.slots))
		}
	}
}

// Every short way agrees with the long one.
func TestLengths(t *testing.T) {
	for size := range 1<<14 + 20 {
		if size > 140 && size < 1<<14-20 {
			continue // one byte says the length, or two, or three
		}
		request := recordsWith(nil)
		record := request.ResourceLogs[0].ScopeLogs[0].LogRecords[0]
		record.Attributes = []*commonpb.KeyValue{{Key: "k", Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: strings.Repeat("x", size)}}}}
		wire := marshalled(t, request)
		if got, want := flattened(t, wire), plainEvents(request); !slices.Equal(got, want) {
			t.Fatalf("%d bytes: got %.300q, want %.300q", size, got, want)
		}
		for _, cut := range []int{1, 2, 3, size / 2, size} {
			if _, err := check(wire[:len(wire)-max(cut, 1)]); err == nil {
				t.Fatalf("%d bytes, %d cut off: no error", size, cut)
			}
		}
	}
}
