package ingest

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/otlp"
	"github.com/sluicehq/sluice/sources"
)

// Whatever comes is an error or becomes events that are JSON, as many as there are
// records; and the library for protobuf takes what is no error, but for its texts, which
// must be UTF-8, and its bounds.
func FuzzRequests(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 8 {
		f.Add(marshalled(f, randomRequest(r)))
	}
	f.Add([]byte("\x0a\x07\x12\x05\x12\x03\x09\x01\x02"))
	f.Fuzz(func(t *testing.T, request []byte) {
		records, err := check(request)
		message := &logspb.LogsData{}
		refused := proto.Unmarshal(request, message)
		if err != nil {
			if refused == nil {
				t.Fatalf("%x is refused: %v", request, err)
			}
			return
		}
		events := flattened(t, request)
		for _, event := range events {
			if len(event) > sources.MaxLine || !json.Valid([]byte(event)) {
				t.Fatalf("%x: an event is %.300q", request, event)
			}
		}
		if refused != nil {
			return
		}
		if want := plainEvents(message); records != len(want) || !slices.Equal(events, want) && !deep(want) {
			t.Fatalf("%x: got %q, want %q", request, events, want)
		}
	})
}

// deep reports whether an event is nested as deep as values are cut.
func deep(events []string) bool {
	return slices.ContainsFunc(events, func(e string) bool { return strings.Count(e, "[")+strings.Count(e, "{") > maxDepth })
}

// Requests in JSON mean what the library takes them for, when it takes them.
func FuzzRequestsInJSON(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 8 {
		text, err := protojson.Marshal(randomRequest(r))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(one(`"timeUnixNano":1e9,"severityNumber":"SEVERITY_NUMBER_WARN2","traceId":"0A","body":{"bytesValue":"_-8"},"x":[{"y":null}]`, `"attributes":null`, `"name":"\ud83d\ude00\udc00"`)))
	f.Fuzz(func(t *testing.T, text []byte) {
		request, err := otlp.AppendRequest(nil, text)
		if err != nil {
			return
		}
		if !json.Valid(text) || len(request) > 2*len(text)+64 {
			t.Fatalf("%q becomes %d bytes", text, len(request))
		}
		if _, err := check(request); err != nil {
			t.Fatalf("%q becomes %x: %v", text, request, err)
		}
		for _, event := range flattened(t, request) {
			if !json.Valid([]byte(event)) {
				t.Fatalf("%q: an event is %.300q", text, event)
			}
		}
	})
}

// The two encodings of random requests become the same events.
func TestJSONIsAsGoodAsProtobuf(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 500 {
		request := randomRequest(r)
		for _, logs := range request.ResourceLogs {
			for _, scope := range logs.ScopeLogs {
				for _, record := range scope.LogRecords {
					record.TraceId, record.SpanId = nil, nil // the library's are base64
				}
			}
		}
		text, err := protojson.MarshalOptions{UseEnumNumbers: r.IntN(2) == 0, UseProtoNames: r.IntN(2) == 0}.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		got, want := flattened(t, fromJSON(t, string(text))), plainEvents(request)
		if !slices.Equal(got, want) {
			t.Fatalf("%s\ngot  %q\nwant %q", text, got, want)
		}
	}
}

func TestWhereJSONIsNoRequest(t *testing.T) {
	for _, tc := range []struct{ name, text, want string }{
		{"a text where records belong", `{"resourceLogs":"x"}`, "byte 16 of 20: resourceLogs of ExportLogsServiceRequest: want an array"},
		{"a number where an object belongs", `{"resourceLogs":[7]}`, "byte 17 of 20: resourceLogs of ExportLogsServiceRequest: want an object"},
		{"an id that is no number", one(`"traceId":"xy"`, "", ""), "traceId of LogRecord: want hexadecimal digits"},
		{"half a digit", one(`"spanId":"abc"`, "", ""), "spanId of LogRecord: want hexadecimal digits"},
		{"a time that is no number", one(`"timeUnixNano":"now"`, "", ""), "timeUnixNano of LogRecord: want nanoseconds"},
		{"an unknown severity", one(`"severityNumber":"LOUD"`, "", ""), "severityNumber of LogRecord: want an integer"},
		{"an integer with a fraction", one(`"body":{"intValue":1.5}`, "", ""), "intValue of AnyValue: want an integer"},
		{"an integer that is too long", one(`"body":{"intValue":"9223372036854775808"}`, "", ""), "intValue of AnyValue: want an integer"},
		{"a double that is a word", one(`"body":{"doubleValue":"much"}`, "", ""), "doubleValue of AnyValue: want a number"},
		{"a text that is true", one(`"body":{"boolValue":"true"}`, "", ""), "boolValue of AnyValue: want true or false"},
		{"a number where a text belongs", one(`"body":{"stringValue":1}`, "", ""), "stringValue of AnyValue: want a string"},
		{"bytes that are not base64", one(`"body":{"bytesValue":"***"}`, "", ""), "bytesValue of AnyValue: want base64"},
		{"text behind it", `{} {}`, "byte 4 of 5: invalid character '{' after top-level value"},
	} {
		_, err := otlp.AppendRequest(nil, []byte(tc.text))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", tc.name, err, tc.want)
		}
	}
}

func TestRequestsThatMeanSomethingElse(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: false, ` {"resourceLogs":[]}`: false, `{"resource_logs":null,"x":1}`: false, `{"x":[{"resourceLogs":1}],"resourceLogs":[]}`: false,
		`{"User":"root"}`: true, ` {"x":{"resourceLogs":[]}} `: true, `{"resourceSpans":[]}`: true,
	} {
		if _, err := otlp.AppendRequest(nil, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := otlp.Foreign([]byte(text)); got != want {
			t.Errorf("%s: foreign %t, want %t", text, got, want)
		}
	}
}

// recordsOf is a request of n records such as collectors send.
func recordsOf(tb testing.TB, n int) []byte {
	tb.Helper()
	record := `{"timeUnixNano":"1700000000123456789","observedTimeUnixNano":"1700000000123556789","severityNumber":9,"severityText":"INFO","body":{"stringValue":"process created"},"attributes":[
		{"key":"EventID","value":{"intValue":"4688"}},{"key":"Image","value":{"stringValue":"C:\\Windows\\System32\\cmd.exe"}},
		{"key":"CommandLine","value":{"stringValue":"cmd.exe /c whoami /all && net user administrator"}},{"key":"ParentImage","value":{"stringValue":"C:\\Windows\\explorer.exe"}},
		{"key":"User","value":{"stringValue":"CORP\\ana"}},{"key":"ProcessId","value":{"intValue":"4711"}},{"key":"Elevated","value":{"boolValue":false}},
		{"key":"Hashes","value":{"stringValue":"SHA256=9F914D42706FE215501044ACD85A32D58AAEF1419D404FDDFA5D3B48F66CCD9F"}}]}`
	records := strings.TrimSuffix(strings.Repeat(record+",", n), ",")
	request := &logspb.LogsData{}
	wire := fromJSON(tb, `{"resourceLogs":[{"resource":{"attributes":[{"key":"host.name","value":{"stringValue":"ws-0042"}},{"key":"service.name","value":{"stringValue":"winlog"}}]},
		"scopeLogs":[{"scope":{"name":"winlogreceiver","version":"0.160.0"},"logRecords":[`+records+`]}]}]}`)
	if err := proto.Unmarshal(wire, request); err != nil {
		tb.Fatal(err)
	}
	return marshalled(tb, request)
}

// discard takes lines and gives their memory back.
type discard struct{ recorder }

func (*discard) Put(_ context.Context, run []graph.Line) (int, error) {
	graph.ReleaseLines(run)
	return len(run), nil
}

const benchRecords = 500

func BenchmarkProtobuf(b *testing.B) {
	request := recordsOf(b, benchRecords)
	n := newTestIntake(b, &discard{})
	b.SetBytes(int64(len(request)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := check(request); err != nil {
			b.Fatal(err)
		}
		if _, err := n.take(b.Context(), overHTTP, request); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRecords, "ns/record")
}

func BenchmarkJSON(b *testing.B) {
	message := &logspb.LogsData{}
	if err := proto.Unmarshal(recordsOf(b, benchRecords), message); err != nil {
		b.Fatal(err)
	}
	text, err := protojson.Marshal(message)
	if err != nil {
		b.Fatal(err)
	}
	n := newTestIntake(b, &discard{})
	var wire []byte
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if wire, err = otlp.AppendRequest(wire[:0], text); err != nil {
			b.Fatal(err)
		}
		if _, err := n.take(b.Context(), overHTTP, wire); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/benchRecords, "ns/record")
}

// A record costs no memory of its own, however many there are.
func TestRecordsCostNoAllocations(t *testing.T) {
	few, many := recordsOf(t, 10), recordsOf(t, 1000)
	n := newTestIntake(t, &discard{})
	count := func(request []byte) float64 {
		return testing.AllocsPerRun(50, func() {
			if _, err := n.take(t.Context(), overHTTP, request); err != nil {
				t.Fatal(err)
			}
		})
	}
	count(many) // memory that is used again is there now
	if a, b := count(few), count(many); b > a+100 {
		t.Errorf("10 records take %g allocations, 1000 take %g", a, b)
	}
}
