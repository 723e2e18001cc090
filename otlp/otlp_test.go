package otlp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	logspb "go.opentelemetry.io/proto/otlp/logs/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
)

// anyOf is the value of a JSON text as the protocol's own types have it, from a tree that
// encoding/json made.
func anyOf(tb testing.TB, text []byte, depth int) *commonpb.AnyValue {
	tb.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if text = bytes.TrimSpace(text); depth == 0 && (text[0] == '{' || text[0] == '[') {
		return stringValue(strings.ToValidUTF8(string(text), "\uFFFD"))
	}
	switch text[0] {
	case '{':
		list := &commonpb.KeyValueList{}
		eachRaw(tb, d, func(key string, value json.RawMessage) {
			list.Values = append(list.Values, &commonpb.KeyValue{Key: key, Value: anyOf(tb, value, depth-1)})
		})
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_KvlistValue{KvlistValue: list}}
	case '[':
		list := &commonpb.ArrayValue{}
		var values []json.RawMessage
		if err := json.Unmarshal(text, &values); err != nil {
			tb.Fatal(err)
		}
		for _, v := range values {
			list.Values = append(list.Values, anyOf(tb, v, depth-1))
		}
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}}
	}
	var v any
	if err := d.Decode(&v); err != nil {
		tb.Fatal(err)
	}
	switch v := v.(type) {
	case string:
		return stringValue(v)
	case bool:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v}}
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: n}}
		}
		n, _ := strconv.ParseFloat(string(v), 64)
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: n}}
	}
	return &commonpb.AnyValue{}
}

func stringValue(s string) *commonpb.AnyValue {
	return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}}
}

// eachRaw calls f for each member in order, keys that repeat included.
func eachRaw(tb testing.TB, d *json.Decoder, f func(key string, value json.RawMessage)) {
	tb.Helper()
	if _, err := d.Token(); err != nil {
		tb.Fatal(err)
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			tb.Fatal(err)
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			tb.Fatal(err)
		}
		f(key.(string), value)
	}
}

// wantRecord checks that a record is byte for byte what the library makes of an object.
func wantRecord(tb testing.TB, got, object []byte) {
	tb.Helper()
	want := &logspb.LogRecord{}
	d := json.NewDecoder(bytes.NewReader(object))
	eachRaw(tb, d, func(key string, value json.RawMessage) {
		want.Attributes = append(want.Attributes, &commonpb.KeyValue{Key: key, Value: anyOf(tb, value, MaxDepth)})
	})
	encoded, err := proto.Marshal(want)
	if err != nil {
		tb.Fatal(err)
	}
	if bytes.Equal(got, encoded) {
		return
	}
	var read logspb.LogRecord
	if err := proto.Unmarshal(got, &read); err != nil {
		tb.Fatalf("%.300s: not read back: %v", object, err)
	}
	if proto.Equal(&read, want) {
		tb.Errorf("%.300s: read back the same, but got %d bytes, want %d:\n got %.200x\nwant %.200x", object, len(got), len(encoded), got, encoded)
		return
	}
	tb.Errorf("got  %.2000s\nwant %.2000s", read.String(), want.String())
}

func TestAnObjectBecomesAttributes(t *testing.T) {
	long := strings.Repeat("x", 300)
	for _, tc := range []struct{ name, object string }{
		{"no members", `{}`},
		{"texts", `{"a":"","b":"x","c":"é\u2028"}`},
		{"an empty key", `{"":1,"a":{"":""}}`},
		{"escapes", `{"path":"C:\\Windows\\cmd.exe","q":"\"\/\b\f\n\r\t\u0041\u00e9\u0000"}`},
		{"characters of two escapes, and halves of them", `{"a":"\ud83d\ude00","b":"\ud83d","c":"\ude00x","d":"\ud83d\u0041"}`},
		{"escaped keys", `{"a\"b":1,"\u0041":2}`},
		{"truths and nothing", `{"t":true,"f":false,"n":null}`},
		{"integers", `{"a":0,"b":-0,"c":-1,"d":127,"e":128,"f":9223372036854775807,"g":-9223372036854775808}`},
		{"integers that do not fit are numbers", `{"a":9223372036854775808,"b":18446744073709551615,"c":123456789012345678901234567890}`},
		{"numbers", `{"a":1.0,"b":1e3,"c":-1.5E-7,"d":1e999,"e":-1e999,"f":1.50}`},
		{"empty lists", `{"a":[],"b":{},"c":[[],{}]}`},
		{"nested lists", `{"a":[1,"x",null,[true,[2.5]],{"b":[{"c":{}}]}]}`},
		{"white space", " { \"a\" : [ 1 , { \"b\" : null } ] ,\n\t\"c\" : \"x\" } \r\n"},
		{"repeated keys", `{"a":1,"a":2,"b":{"c":1,"c":"x"}}`},
		{"lengths of two bytes", `{"a":"` + long + `","b":["` + long + `"],"` + long + `":{"c":"` + long + `"}}`},
		{"lengths of three bytes", `{"a":[{"b":"` + strings.Repeat(long, 100) + `"}],"c":"` + strings.Repeat(`\n`, 20_000) + `"}`},
		{"a list just below and above what was assumed", `{"a":["` + strings.Repeat("x", 120) + `"],"b":["` + strings.Repeat("x", 127) + `"],"c":["` + strings.Repeat("x", 128) + `"]}`},
		{"lists as deep as they may be", `{"a":` + strings.Repeat("[", MaxDepth) + strings.Repeat("]", MaxDepth) + `}`},
		{"deeper ones are texts", `{"a":` + strings.Repeat(`{"k":`, MaxDepth) + `{"deep":["x\"]",1]}` + strings.Repeat("}", MaxDepth) + `}`},
		{"much deeper ones", `{"a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := AppendAttributes(nil, []byte(tc.object))
			if err != nil {
				t.Fatal(err)
			}
			wantRecord(t, got, []byte(tc.object))
			var each []byte
			if err := Members([]byte(tc.object), func(key string, value []byte) (err error) {
				each, err = AppendAttribute(each, key, value)
				return err
			}); err != nil || !bytes.Equal(each, got) {
				t.Errorf("member by member: got %x, %v, want %x", each, err, got)
			}
		})
	}
}

func TestWhatIsNoJSONIsAnError(t *testing.T) {
	for _, text := range []string{
		"", " ", "1", "[]", "{", `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":1,`, `{"a":1]`, `{"a":1}x`, `{a:1}`, `{"a":nul}`, `{"a":-}`, `{"a":1.2.3}`,
		`{"a":"x}`, `{"a":"x\"}`, `{"a":[1}`, `{"a":{]}`, `{"a" 1}`, `{"a":` + strings.Repeat("[", 100),
	} {
		if got, err := AppendAttributes(nil, []byte(text)); !errors.Is(err, errNotJSON) {
			t.Errorf("%.40q: got %x, %v, want an error", text, got, err)
		}
	}
}

func TestBytesThatAreNoTextAreReplaced(t *testing.T) {
	got, err := AppendAttributes(nil, []byte("{\"a\xff\":\"x\xc3\",\"b\":\"\\n\xe2\x82\",\"c\":[{\"\xfe\":\"\xfe\xff\"}]}"))
	if err != nil {
		t.Fatal(err)
	}
	wantRecord(t, got, []byte("{\"a\uFFFD\":\"x\uFFFD\",\"b\":\"\\n\uFFFD\uFFFD\",\"c\":[{\"\uFFFD\":\"\uFFFD\uFFFD\"}]}"))
	got = AppendText(nil, "k", "x\xff\xffé")
	wantRecord(t, got, []byte(`{"k":"x\ufffd\ufffdé"}`))
}

func TestArraysCanBeWrittenEntryByEntry(t *testing.T) {
	for _, entries := range []int{0, 1, 2, 5, 100, 1000} {
		a := BeginArray([]byte("before"), "list")
		var want strings.Builder
		for i := range entries {
			o := a.BeginObject()
			o.Text("field", fmt.Sprint("f", i))
			text := strings.Repeat("v", i)
			if err := o.JSON("value", []byte(`["`+text+`"]`)); err != nil {
				t.Fatal(err)
			}
			o.Bool("last", i == entries-1)
			o.End()
			if i > 0 {
				want.WriteByte(',')
			}
			fmt.Fprintf(&want, `{"field":"f%d","value":[%q],"last":%t}`, i, text, i == entries-1)
		}
		got, found := bytes.CutPrefix(a.End(), []byte("before"))
		if !found {
			t.Error("what was there before is gone")
		}
		wantRecord(t, got, []byte(`{"list":[`+want.String()+`]}`))
	}
}

func TestARequestIsWhatTheLibraryWrites(t *testing.T) {
	at := time.Unix(1_700_000_000, 123456789)
	for _, records := range []int{0, 1, 3, 200} {
		r := NewRequest("sluice", "1.2.3")
		want := &logspb.ScopeLogs{Scope: &commonpb.InstrumentationScope{Name: "sluice", Version: "1.2.3"}}
		r.Add([]byte("gone after the reset"))
		r.Reset()
		for i := range records {
			if i%3 == 2 {
				body := fmt.Sprintf(`{"line":%d}`, i)
				r.Add(AppendBody(nil, body))
				want.LogRecords = append(want.LogRecords, &logspb.LogRecord{Body: stringValue(body)})
				continue
			}
			record := AppendTime(nil, at)
			record = AppendSeverity(record, 17, "ERROR")
			record = AppendBody(record, "title")
			record = AppendText(record, "k", strings.Repeat("v", i))
			record = AppendObservedTime(record, at)
			r.Add(record)
			want.LogRecords = append(want.LogRecords, &logspb.LogRecord{
				TimeUnixNano: uint64(at.UnixNano()), ObservedTimeUnixNano: uint64(at.UnixNano()),
				SeverityNumber: logspb.SeverityNumber_SEVERITY_NUMBER_ERROR, SeverityText: "ERROR", Body: stringValue("title"),
				Attributes: []*commonpb.KeyValue{{Key: "k", Value: stringValue(strings.Repeat("v", i))}},
			})
		}
		encoded, err := proto.Marshal(&logspb.LogsData{ResourceLogs: []*logspb.ResourceLogs{{
			Resource:  &resourcepb.Resource{Attributes: []*commonpb.KeyValue{{Key: "service.name", Value: stringValue("sluice")}}},
			ScopeLogs: []*logspb.ScopeLogs{want},
		}}})
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Append(nil); !bytes.Equal(got, encoded) || r.Size() != len(got) || r.Len() != records {
			t.Errorf("%d records: got %d bytes, said to be %d of %d records, want %d:\n got %.200x\nwant %.200x", records, len(got), r.Size(), r.Len(), len(encoded), got, encoded)
		}
	}
}

func TestAnswers(t *testing.T) {
	partial := func(rejected uint64, message string) []byte {
		inner := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), rejected)
		return field(nil, 1, field(inner, 2, []byte(message)))
	}
	for _, tc := range []struct {
		name   string
		answer []byte
		want   Answer
		bad    bool
	}{
		{"an empty one", nil, Answer{}, false},
		{"a partial success", partial(3, "too old"), Answer{3, "too old"}, false},
		{"fields of later versions are passed over", append(protowire.AppendFixed64(protowire.AppendTag(nil, 9, protowire.Fixed64Type), 1), partial(1, "")...), Answer{1, ""}, false},
		{"no message at all", []byte("<html>hello"), Answer{}, true},
		{"a part of one", partial(3, "too old")[:5], Answer{}, true},
	} {
		got, err := ParseAnswer(tc.answer)
		if (err != nil) != tc.bad || !tc.bad && got != tc.want {
			t.Errorf("%s: got %+v, %v, want %+v", tc.name, got, err, tc.want)
		}
	}
}

// What goes in as JSON comes out as attributes, whatever it is, and no bytes make it panic.
func FuzzAttributesEqualTheObject(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":[1,2.5,-3e4,true,false,null,"x\n\ud83d\ude00"],"b":{"c":{"d":[]}}}`, "{\"a\":\"\xff\"}", `{"rule_title":"T","tags":["a"],"matched_fields":[{"field":"f","value":"C:\\x"}]}`,
		`{"a":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}`, `{"a":"\u12"}`, `{"a":1e400}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		got, err := AppendAttributes(nil, object)
		if !json.Valid(object) || !bytes.HasPrefix(bytes.TrimSpace(object), []byte("{")) {
			return // it did not panic
		}
		if err != nil {
			t.Fatalf("%q: %v", object, err)
		}
		if !utf8.Valid(object) {
			var read logspb.LogRecord
			if err := proto.Unmarshal(got, &read); err != nil {
				t.Fatalf("%q: not read back: %v", object, err)
			}
			return
		}
		wantRecord(t, got, object)
	})
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte{0x0a, 0x02, 0x08, 0x01})
	f.Fuzz(func(_ *testing.T, answer []byte) {
		_, _ = ParseAnswer(answer)
		_, _ = ParseStatus(answer)
	})
}

func TestDoublesAreExact(t *testing.T) {
	for _, v := range []float64{0.1, -2.5e-300, math.MaxFloat64, math.SmallestNonzeroFloat64} {
		object := []byte(`{"v":` + strconv.FormatFloat(v, 'g', -1, 64) + `}`)
		got, err := AppendAttributes(nil, object)
		if err != nil {
			t.Fatal(err)
		}
		wantRecord(t, got, object)
	}
}

func BenchmarkAttributes(b *testing.B) {
	object := []byte(`{"rule_title":"Suspicious PowerShell","rule_id":"3f0c7a52-6f5d-4f0e-8b0e-0a4c7d1e5b11","level":"high","tags":["attack.execution","attack.t1059.001"],` +
		`"matched_selections":["selection"],"matched_fields":[{"field":"CommandLine","value":"powershell -enc C:\\x"},{"field":"EventID","value":4688}]}`)
	var dst []byte
	b.ReportAllocs()
	b.SetBytes(int64(len(object)))
	for b.Loop() {
		dst, _ = AppendAttributes(dst[:0], object)
	}
}
