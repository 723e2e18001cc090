package ingest

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/sluicehq/sluice/graph/leaktest"
	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/sources"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// flattened are the events of a request that has been checked.
func flattened(tb testing.TB, request []byte) (events []string) {
	tb.Helper()
	records, err := check(request)
	if err != nil {
		tb.Fatalf("%x: %v", request, err)
	}
	in := &recorder{}
	n := newTestIntake(tb, in)
	if _, err := n.take(tb.Context(), overHTTP, request); err != nil {
		tb.Fatal(err)
	}
	if got := len(in.lines) + len(in.excerpts); got != records {
		tb.Errorf("%d events of %d records", got, records)
	}
	return in.lines
}

// fromJSON is a request in JSON.
func fromJSON(tb testing.TB, text string) []byte {
	tb.Helper()
	request, err := otlp.AppendRequest(nil, []byte(text))
	if err != nil {
		tb.Fatalf("%s: %v", text, err)
	}
	return request
}

// one is a request of one record, with its resource and scope.
func one(record, resource, scope string) string {
	return `{"resourceLogs":[{"resource":{` + resource + `},"scopeLogs":[{"scope":{` + scope + `},"logRecords":[{` + record + `}]}]}]}`
}

func TestARecordBecomesAnEvent(t *testing.T) {
	attribute := func(key, value string) string { return `{"key":"` + key + `","value":` + value + `}` }
	for _, tc := range []struct{ name, record, resource, scope, want string }{
		{"a record with nothing in it", ``, ``, ``, `{}`},
		{
			"a body and attributes replace what stands before them",
			`"timeUnixNano":"1700000000000000000","traceId":"01AB","body":{"kvlistValue":{"values":[` + attribute("EventID", `{"intValue":"4625"}`) + `,` + attribute("timestamp", `{"stringValue":"x"}`) + `]}},
			"attributes":[` + attribute("trace_id", `{"stringValue":"zz"}`) + `]`,
			`"attributes":[` + attribute("host.name", `{"stringValue":"s1"}`) + `]`, ``,
			`{"timestamp":"x","EventID":4625,"trace_id":"zz","resource.host.name":"s1"}`,
		},
		{"a time and a text", `"timeUnixNano":"1700000000000000000","body":{"stringValue":"hi"}`, ``, ``, `{"timestamp":"2023-11-14T22:13:20.000000000Z","body":"hi"}`},
		{
			"everything, in its order",
			`"spanId":"0B","traceId":"0a","attributes":[` + attribute("a.b", `{"boolValue":true}`) + `],"body":{"doubleValue":1.5},"severityText":"WARN","severityNumber":13,"observedTimeUnixNano":1700000000000000001,"timeUnixNano":1700000000123456789,
			"flags":1,"droppedAttributesCount":2,"eventName":"e"`,
			`"attributes":[` + attribute("service.name", `{"stringValue":"s"}`) + `],"droppedAttributesCount":1`, `"name":"lib","version":"1.2","attributes":[` + attribute("no", `{"intValue":1}`) + `]`,
			`{"timestamp":"2023-11-14T22:13:20.123456789Z","observed_timestamp":"2023-11-14T22:13:20.000000001Z","severity_number":13,"severity_text":"WARN","body":1.5,"trace_id":"0a","span_id":"0b","a.b":true,"resource.service.name":"s","scope.name":"lib","scope.version":"1.2"}`,
		},
		{
			"every kind of value",
			`"attributes":[` + strings.Join([]string{
				attribute("string", `{"stringValue":"a\"b\\c\n\u0001é"}`), attribute("true", `{"boolValue":true}`), attribute("false", `{"boolValue":false}`),
				attribute("int", `{"intValue":"-9223372036854775808"}`), attribute("max", `{"intValue":9223372036854775807}`), attribute("double", `{"doubleValue":-2.5e-300}`),
				attribute("whole", `{"doubleValue":3}`), attribute("nan", `{"doubleValue":"NaN"}`), attribute("infinite", `{"doubleValue":"-Infinity"}`),
				attribute("bytes", `{"bytesValue":"3q2+7w=="}`), attribute("array", `{"arrayValue":{"values":[{"intValue":1},{},{"stringValue":"x"},{"arrayValue":{}}]}}`),
				attribute("list", `{"kvlistValue":{"values":[`+attribute("k.l", `{"intValue":1}`)+`,{"key":"none"},`+attribute("m", `{"kvlistValue":{}}`)+`]}}`), attribute("unset", `{}`), `{"key":"none"}`,
			}, ",") + `]`, ``, ``,
			`{"string":"a\"b\\c\n\u0001é","true":true,"false":false,"int":-9223372036854775808,"max":9223372036854775807,"double":-2.5e-300,"whole":3,"nan":null,"infinite":null,` +
				`"bytes":"deadbeef","array":[1,null,"x",[]],"list":{"k.l":1,"m":{}},"unset":null}`,
		},
		{"an attribute replaces an earlier one and keeps its place", `"attributes":[` + attribute("a", `{"intValue":1}`) + `,` + attribute("b", `{"intValue":2}`) + `,` + attribute("a", `{"intValue":3}`) + `]`, ``, ``, `{"a":3,"b":2}`},
		{"a key that repeats in a value stays", `"body":{"arrayValue":{"values":[{"kvlistValue":{"values":[` + attribute("a", `{"intValue":1}`) + `,` + attribute("a", `{"intValue":2}`) + `]}}]}}`, ``, ``, `{"body":[{"a":1,"a":2}]}`},
		{
			"attributes that look like those of the resource and the scope are replaced",
			`"attributes":[` + attribute("scope.name", `{"intValue":1}`) + `,` + attribute("x", `{"intValue":2}`) + `,` + attribute("resource.a", `{"intValue":3}`) + `,` + attribute("resource.z", `{"intValue":4}`) + `]`,
			`"attributes":[` + attribute("a", `{"stringValue":"r"}`) + `,` + attribute("b", `{"stringValue":"q"}`) + `]`, `"name":"lib"`,
			`{"scope.name":"lib","x":2,"resource.a":"r","resource.z":4,"resource.b":"q"}`,
		},
		{"a resource attribute replaces an earlier one", ``, `"attributes":[` + attribute("a", `{"intValue":1}`) + `,` + attribute("b", `{"intValue":2}`) + `,` + attribute("a", `{}`) + `]`, ``, `{"resource.a":null,"resource.b":2}`},
		{"a body that is a list replaces severity", `"severityText":"INFO","body":{"kvlistValue":{"values":[` + attribute("severity_text", `{"intValue":7}`) + `,` + attribute("body", `{"intValue":8}`) + `]}}`, ``, ``, `{"severity_text":7,"body":8}`},
		{"an empty list has no body", `"body":{"kvlistValue":{}}`, ``, ``, `{}`},
		{"a body that is not set", `"body":{}`, ``, ``, `{}`},
		{"a body that is an empty text", `"body":{"stringValue":""}`, ``, ``, `{"body":""}`},
		{"empty texts and ids are left out", `"severityText":"","traceId":"","spanId":""`, ``, `"name":"","version":""`, `{}`},
		{"an empty key", `"attributes":[` + attribute("", `{"intValue":1}`) + `]`, ``, ``, `{"":1}`},
		{"only a scope", ``, ``, `"version":"1"`, `{"scope.version":"1"}`},
		{"the last time there is", `"timeUnixNano":"18446744073709551615"`, ``, ``, `{"timestamp":"2554-07-21T23:34:33.709551615Z"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := flattened(t, fromJSON(t, one(tc.record, tc.resource, tc.scope)))
			if len(got) != 1 || got[0] != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// Records keep their order, each with the resource and the scope that it has.
func TestRecordsOfSeveralResourcesAndScopes(t *testing.T) {
	body := func(s string) string { return `{"body":{"stringValue":"` + s + `"}}` }
	request := `{"resourceLogs":[
		{"scopeLogs":[{"scope":{"name":"a"},"logRecords":[` + body("1") + `,` + body("2") + `]},{"logRecords":[` + body("3") + `]}],"resource":{"attributes":[{"key":"r","value":{"intValue":1}}]}},
		{},{"scopeLogs":[{},{"logRecords":[` + body("4") + `],"schemaUrl":"x"}]}]}`
	want := []string{
		`{"body":"1","resource.r":1,"scope.name":"a"}`, `{"body":"2","resource.r":1,"scope.name":"a"}`, `{"body":"3","resource.r":1}`, `{"body":"4"}`,
	}
	if got := flattened(t, fromJSON(t, request)); !slices.Equal(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What generators of protobuf may do, and the usual ones do not.
func TestUnusualWire(t *testing.T) {
	text := func(number protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), s)
	}
	within := func(number protowire.Number, parts ...[]byte) []byte {
		return text(number, string(slices.Concat(parts...)))
	}
	integer := func(number protowire.Number, v uint64) []byte {
		return protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), v)
	}
	group := protowire.AppendTag(append(protowire.AppendTag(nil, 99, protowire.StartGroupType), integer(1, 2)...), 99, protowire.EndGroupType)
	for _, tc := range []struct {
		name   string
		record []byte
		want   string
	}{
		{"the value stands before the key", within(6, within(2, integer(3, 7)), text(1, "k")), `{"k":7}`},
		{"the last of two keys counts", within(6, text(1, "a"), text(1, "k"), within(2, integer(3, 7))), `{"k":7}`},
		{"the last kind of a value counts", within(6, text(1, "k"), within(2, integer(3, 7), text(1, "x"), integer(2, 1))), `{"k":true}`},
		{"a value in two pieces", within(6, text(1, "k"), within(2, within(5, within(1, integer(3, 1)))), within(2, within(5, within(1, integer(3, 2))), integer(99, 1))), `{"k":[1,2]}`},
		{"a value in two pieces of different kinds", within(6, text(1, "k"), within(2, within(5, within(1, integer(3, 1)))), within(2, integer(3, 2)), within(2, within(5, within(1, integer(3, 3))))), `{"k":[3]}`},
		{"a body in two pieces", slices.Concat(within(5, within(6, within(1, text(1, "a"), within(2, integer(3, 1))))), within(5, within(6, within(1, text(1, "b"), within(2, integer(3, 2)))))), `{"a":1,"b":2}`},
		{"unknown fields of every kind", slices.Concat(integer(99, 1), text(98, "x"), group, protowire.AppendFixed32(protowire.AppendTag(nil, 97, protowire.Fixed32Type), 1), within(5, text(1, "b"))), `{"body":"b"}`},
		{"known fields of another kind are unknown", slices.Concat(integer(1, 5), text(2, "x"), integer(5, 1), integer(6, 1), within(5, text(1, "b"))), `{"body":"b"}`},
		{"long varints", append([]byte{5<<3 | 2, 0x83, 0x80, 0x00}, text(1, "b")...), `{"body":"b"}`},
		{"a negative severity", integer(2, math.MaxUint64), `{"severity_number":-1}`},
		{"severity zero in its low bits", integer(2, 1<<32), `{}`},
		{"bytes that are no UTF-8", slices.Concat(within(5, text(1, "a\xff\xc3(\xe2\x82")), within(6, text(1, "k\xff"), within(2, integer(3, 1))), within(6, text(1, "k\xfe"), within(2, integer(3, 2)))), "{\"body\":\"a\uFFFD\uFFFD(\uFFFD\uFFFD\",\"k\uFFFD\":2}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := flattened(t, within(1, within(2, within(2, tc.record))))
			if len(got) != 1 || got[0] != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// A value that is nested too deep is cut where it is a parse error all the same.
func TestDeepValuesAreCut(t *testing.T) {
	for _, depth := range []int{120, 126, 127, 128, 140, 5_000} {
		value := []byte{}
		for range depth {
			list := protowire.AppendBytes([]byte{1<<3 | 2}, value)
			value = protowire.AppendBytes([]byte{5<<3 | 2}, list)
		}
		for _, n := range []protowire.Number{5, 2, 2, 1} {
			value = protowire.AppendBytes(protowire.AppendTag(nil, n, protowire.BytesType), value)
		}
		events := flattened(t, value)
		if len(events) != 1 || !json.Valid([]byte(events[0])) {
			t.Fatalf("%d deep: %.300q", depth, events)
		}
		if got := strings.Count(events[0], "["); got != min(depth, maxDepth) {
			t.Errorf("%d deep: %d brackets", depth, got)
		}
	}
}

func TestWhereARequestIsMalformed(t *testing.T) {
	for _, tc := range []struct{ name, request, want string }{
		{"text", "not a request", "malformed field at byte 0 of 13, in ExportLogsServiceRequest"},
		{"a length beyond the end", "\x0a\x05\x12", "truncated field at byte 0 of 3, in ExportLogsServiceRequest"},
		{"in a resource", "\x0a\x03\x0a\x05\x12", "truncated field at byte 2 of 5, in ResourceLogs"},
		{"in a record", "\x0a\x07\x12\x05\x12\x03\x09\x01\x02", "truncated field at byte 6 of 9, in LogRecord"},
		{"field number zero", "\x0a\x02\x00\x00", "malformed field at byte 2 of 4, in ResourceLogs"},
		{"a varint without an end", "\x0a\x0c\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "malformed field at byte 2 of 14, in ResourceLogs"},
		{"the end of a group", "\x0c", "malformed field at byte 0 of 1, in ExportLogsServiceRequest"},
	} {
		_, err := check([]byte(tc.request))
		if err == nil || err.Error() != tc.want {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

// Every part of a request is refused, wherever it is cut, unless it is one.
func TestTruncatedRequests(t *testing.T) {
	whole := marshalled(t, randomRequest(rand.New(rand.NewPCG(1, 2))))
	for n := range whole {
		_, err := check(whole[:n])
		refused := proto.Unmarshal(whole[:n], &logspb.LogsData{})
		if (err == nil) != (refused == nil) {
			t.Errorf("%d bytes: %v, and by the library %v", n, err, refused)
		}
	}
}

func marshalled(tb testing.TB, m proto.Message) []byte {
	tb.Helper()
	b, err := proto.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

var words = []string{"", "a", "b", "timestamp", "body", "trace_id", "resource.a", "scope.name", "severity_text", "host.name", "é\n\"", strings.Repeat("long ", 30)}

func randomValue(r *rand.Rand, depth int) *commonpb.AnyValue {
	kinds := 9
	if depth == 0 {
		kinds = 7
	}
	switch r.IntN(kinds) {
	case 0:
		return nil
	case 1:
		return &commonpb.AnyValue{}
	case 2:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: words[r.IntN(len(words))]}}
	case 3:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: r.IntN(2) == 0}}
	case 4:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: int64(r.Uint64() >> r.IntN(64))}}
	case 5:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: math.Float64frombits(r.Uint64())}}
	case 6:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BytesValue{BytesValue: []byte(words[r.IntN(len(words))])}}
	case 7:
		list := &commonpb.ArrayValue{}
		for range r.IntN(4) {
			v := randomValue(r, depth-1)
			if v == nil {
				v = &commonpb.AnyValue{}
			}
			list.Values = append(list.Values, v)
		}
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}}
	}
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: &commonpb.KeyValueList{Values: randomPairs(r, depth-1)}}}
}

func randomPairs(r *rand.Rand, depth int) (all []*commonpb.KeyValue) {
	for range r.IntN(6) {
		all = append(all, &commonpb.KeyValue{Key: words[r.IntN(len(words))], Value: randomValue(r, depth)})
	}
	return all
}

func randomRequest(r *rand.Rand) *logspb.LogsData {
	request := &logspb.LogsData{}
	for range 1 + r.IntN(3) {
		logs := &logspb.ResourceLogs{SchemaUrl: words[r.IntN(len(words))]}
		if r.IntN(3) > 0 {
			logs.Resource = &resourcepb.Resource{Attributes: randomPairs(r, 2), DroppedAttributesCount: r.Uint32N(2)}
		}
		for range r.IntN(3) {
			scope := &logspb.ScopeLogs{}
			if r.IntN(3) > 0 {
				scope.Scope = &commonpb.InstrumentationScope{Name: words[r.IntN(len(words))], Version: words[r.IntN(len(words))], Attributes: randomPairs(r, 1)}
			}
			for range r.IntN(4) {
				record := &logspb.LogRecord{Body: randomValue(r, 3), Attributes: randomPairs(r, 3), EventName: words[r.IntN(len(words))], Flags: r.Uint32N(2)}
				if r.IntN(2) == 0 {
					record.TimeUnixNano, record.ObservedTimeUnixNano = r.Uint64(), r.Uint64N(2)
				}
				if r.IntN(2) == 0 {
					record.SeverityNumber, record.SeverityText = logspb.SeverityNumber(r.Int32N(25)), words[r.IntN(len(words))]
					record.TraceId, record.SpanId = []byte(words[r.IntN(len(words))]), []byte(words[r.IntN(len(words))])
				}
				scope.LogRecords = append(scope.LogRecords, record)
			}
			logs.ScopeLogs = append(logs.ScopeLogs, scope)
		}
		request.ResourceLogs = append(request.ResourceLogs, logs)
	}
	return request
}

// pairs is an object whose keys have an order.
type pairs struct {
	keys   []string
	values map[string]string
}

func (p *pairs) set(key, value string) {
	if _, ok := p.values[key]; !ok {
		p.keys = append(p.keys, key)
	}
	p.values[key] = value
}

func (p *pairs) String() string {
	all := make([]string, len(p.keys))
	for i, key := range p.keys {
		all[i] = quoted(key) + ":" + p.values[key]
	}
	return "{" + strings.Join(all, ",") + "}"
}

// quoted is a text in JSON, by the standard library but for two characters that it escapes
// without need.
func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		if r == '\u2028' || r == '\u2029' {
			b.WriteRune(r)
			continue
		}
		var one strings.Builder
		e := json.NewEncoder(&one)
		e.SetEscapeHTML(false)
		if err := e.Encode(string(r)); err != nil {
			return err.Error()
		}
		b.WriteString(one.String()[1 : one.Len()-2])
	}
	return b.String() + `"`
}

// plainValue is a value by the generated types.
func plainValue(v *commonpb.AnyValue) string {
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		return quoted(v.StringValue)
	case *commonpb.AnyValue_BoolValue:
		return fmt.Sprint(v.BoolValue)
	case *commonpb.AnyValue_IntValue:
		return fmt.Sprint(v.IntValue)
	case *commonpb.AnyValue_DoubleValue:
		text, err := json.Marshal(v.DoubleValue)
		if err != nil {
			return "null"
		}
		return string(text)
	case *commonpb.AnyValue_BytesValue:
		return `"` + hex.EncodeToString(v.BytesValue) + `"`
	case *commonpb.AnyValue_ArrayValue:
		all := []string{}
		for _, e := range v.ArrayValue.GetValues() {
			all = append(all, plainValue(e))
		}
		return "[" + strings.Join(all, ",") + "]"
	case *commonpb.AnyValue_KvlistValue:
		all := []string{}
		for _, e := range v.KvlistValue.GetValues() {
			if e.Value != nil {
				all = append(all, quoted(e.Key)+":"+plainValue(e.Value))
			}
		}
		return "{" + strings.Join(all, ",") + "}"
	}
	return "null"
}

// plainEvents are the events of a request by the generated types.
func plainEvents(request *logspb.LogsData) (events []string) {
	for _, logs := range request.ResourceLogs {
		for _, scope := range logs.ScopeLogs {
			for _, record := range scope.LogRecords {
				p := &pairs{values: make(map[string]string)}
				text := func(key, value string) {
					if value != "" {
						p.set(key, value)
					}
				}
				at := func(key string, nanos uint64) {
					if nanos != 0 {
						p.set(key, `"`+time.Unix(int64(nanos/1e9), int64(nanos%1e9)).UTC().Format("2006-01-02T15:04:05.000000000Z")+`"`)
					}
				}
				each := func(prefix string, all []*commonpb.KeyValue) {
					for _, kv := range all {
						if kv.Value != nil {
							p.set(prefix+kv.Key, plainValue(kv.Value))
						}
					}
				}
				nonempty := func(key, value string) {
					if value != "" {
						p.set(key, quoted(value))
					}
				}
				at("timestamp", record.TimeUnixNano)
				at("observed_timestamp", record.ObservedTimeUnixNano)
				if record.SeverityNumber != 0 {
					p.set("severity_number", fmt.Sprint(int32(record.SeverityNumber)))
				}
				nonempty("severity_text", record.SeverityText)
				if list, ok := record.GetBody().GetValue().(*commonpb.AnyValue_KvlistValue); ok {
					each("", list.KvlistValue.GetValues())
				} else if record.GetBody().GetValue() != nil {
					text("body", plainValue(record.Body))
				}
				nonempty("trace_id", hex.EncodeToString(record.TraceId))
				nonempty("span_id", hex.EncodeToString(record.SpanId))
				each("", record.Attributes)
				each("resource.", logs.GetResource().GetAttributes())
				nonempty("scope.name", scope.GetScope().GetName())
				nonempty("scope.version", scope.GetScope().GetVersion())
				events = append(events, p.String())
			}
		}
	}
	return events
}

func TestEventsAreThoseOfTheGeneratedTypes(t *testing.T) {
	r := rand.New(rand.NewPCG(20260310, 29))
	for range 3000 {
		request := randomRequest(r)
		got, want := flattened(t, marshalled(t, request)), plainEvents(request)
		if !slices.Equal(got, want) {
			for i := range want {
				if i >= len(got) || got[i] != want[i] {
					t.Fatalf("record %d of %d (got %d)\ngot  %s\nwant %s", i, len(want), len(got), got[min(i, len(got)-1)], want[i])
				}
			}
		}
	}
}

func TestOversizeRecordsAreRejectedAlone(t *testing.T) {
	record := func(attributes ...*commonpb.KeyValue) *logspb.LogRecord {
		return &logspb.LogRecord{Attributes: attributes}
	}
	kv := func(key string, n int) *commonpb.KeyValue {
		return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: strings.Repeat("x", n)}}}
	}
	var many []*commonpb.KeyValue
	for i := range 200_000 {
		many = append(many, kv(fmt.Sprint("key", i), 0))
	}
	overhead := len(`{"k":""}`)
	request := func(resource []*commonpb.KeyValue, records ...*logspb.LogRecord) []byte {
		return marshalled(t, &logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{
			Resource: &resourcepb.Resource{Attributes: resource}, ScopeLogs: []*logspb.ScopeLogs{{LogRecords: records}},
		}}})
	}
	small := record(kv("a", 1))
	for _, tc := range []struct {
		name     string
		request  []byte
		lines    []string
		rejected int
	}{
		{"exactly the limit", request(nil, record(kv("k", sources.MaxLine-overhead))), []string{`{"k":"` + strings.Repeat("x", sources.MaxLine-overhead) + `"}`}, 0},
		{"a byte more", request(nil, small, record(kv("k", sources.MaxLine-overhead+1)), small), []string{`{"a":"x"}`, `{"a":"x"}`}, 1},
		{"much more", request(nil, small, record(kv("k", 5<<20)), small), []string{`{"a":"x"}`, `{"a":"x"}`}, 1},
		{"many attributes", request(nil, small, record(many...), small), []string{`{"a":"x"}`, `{"a":"x"}`}, 1},
		{"what is replaced does not count", request(nil, record(kv("k", 5<<20), kv("k", 1))), []string{`{"k":"x"}`}, 0},
		{"the resource alone", request([]*commonpb.KeyValue{kv("r", 2<<20)}, small, small), nil, 2},
		{"many attributes of the resource", request(many, small), nil, 1},
		{"with the resource", request([]*commonpb.KeyValue{kv("r", sources.MaxLine/2)}, record(kv("a", sources.MaxLine/2)), record(kv("resource.r", 5))), []string{`{"resource.r":"` + strings.Repeat("x", sources.MaxLine/2) + `"}`}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := &recorder{}
			n := newTestIntake(t, in)
			rejected, err := n.take(t.Context(), overHTTP, tc.request)
			if err != nil || rejected != tc.rejected || len(in.excerpts) != tc.rejected || !slices.Equal(in.lines, tc.lines) {
				t.Errorf("rejected %d with %d excerpts, %d lines, %v", rejected, len(in.excerpts), len(in.lines), err)
			}
			for _, excerpt := range in.excerpts {
				if len(excerpt) != sources.ExcerptSize || !strings.HasPrefix(excerpt, `{"`) {
					t.Errorf("an excerpt of %d bytes: %.80s", len(excerpt), excerpt)
				}
			}
		})
	}
}
