package otlp

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// AppendRequest appends the protobuf of an export request that is JSON, as the protocol
// defines it: ids are hexadecimal, bytes base64, and 64-bit integers are texts or numbers.
// Fields that the protocol does not have are passed over. Lengths take five bytes each, so
// that what is written need not be moved; what comes out is about twice as long as the
// text at most.
func AppendRequest(dst, text []byte) ([]byte, error) {
	if !json.Valid(text) {
		var raw json.RawMessage
		return dst, placed(text, json.Unmarshal(text, &raw))
	}
	i := space(text, 0)
	if text[i] != '{' {
		return dst, fmt.Errorf("byte %d of %d: want an object", i, len(text))
	}
	dst, _, err := appendMessage(dst, request, text, i)
	return dst, err
}

// Foreign reports whether a request in JSON, which AppendRequest has read, has members and
// none of those that are read: whoever sent it meant something else.
func Foreign(text []byte) bool {
	known, others := false, false
	_, err := list(text, space(text, 0), '}', func(i int) (end int, err error) {
		name, i, err := keyAt(text, i)
		if err != nil {
			return i, err
		}
		if request.field(name) == nil {
			others = true
		} else {
			known = true
		}
		return skip(text, i)
	})
	return err == nil && others && !known
}

// placed says where JSON is broken.
func placed(text []byte, err error) error {
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Errorf("byte %d of %d: %w", syntax.Offset, len(text), err)
	}
	return err
}

// form is how a field is written, in JSON and in protobuf.
type form uint8

const (
	formMessage form = iota
	formText
	formHex
	formBase64
	formBool
	formInt
	formTime
	formDouble
	formSeverity
)

// jsonField is a field of a message as JSON names it.
type jsonField struct {
	name, alias string // the latter as the definition of the protocol spells it
	number      byte
	form        form
	many        bool
	fields      *message
}

// message is a message of the protocol.
type message struct {
	name   string
	fields []jsonField
}

// request is an export request, as far as it is read.
var request = newRequest()

func newRequest() *message {
	anyValue := &message{name: "AnyValue"}
	keyValue := &message{"KeyValue", []jsonField{
		{name: "key", number: 1, form: formText}, {name: "value", number: 2, fields: anyValue},
	}}
	array := &message{"ArrayValue", []jsonField{{name: "values", number: 1, many: true, fields: anyValue}}}
	list := &message{"KeyValueList", []jsonField{{name: "values", number: 1, many: true, fields: keyValue}}}
	anyValue.fields = []jsonField{
		{"stringValue", "string_value", 1, formText, false, nil},
		{"boolValue", "bool_value", 2, formBool, false, nil},
		{"intValue", "int_value", 3, formInt, false, nil},
		{"doubleValue", "double_value", 4, formDouble, false, nil},
		{"arrayValue", "array_value", 5, formMessage, false, array},
		{"kvlistValue", "kvlist_value", 6, formMessage, false, list},
		{"bytesValue", "bytes_value", 7, formBase64, false, nil},
	}
	record := &message{"LogRecord", []jsonField{
		{"timeUnixNano", "time_unix_nano", 1, formTime, false, nil},
		{"severityNumber", "severity_number", 2, formSeverity, false, nil},
		{"severityText", "severity_text", 3, formText, false, nil},
		{name: "body", number: 5, fields: anyValue},
		{name: "attributes", number: 6, many: true, fields: keyValue},
		{"traceId", "trace_id", 9, formHex, false, nil},
		{"spanId", "span_id", 10, formHex, false, nil},
		{"observedTimeUnixNano", "observed_time_unix_nano", 11, formTime, false, nil},
	}}
	scope := &message{"InstrumentationScope", []jsonField{
		{name: "name", number: 1, form: formText}, {name: "version", number: 2, form: formText},
	}}
	scopeLogs := &message{"ScopeLogs", []jsonField{
		{name: "scope", number: 1, fields: scope}, {"logRecords", "log_records", 2, formMessage, true, record},
	}}
	resource := &message{"Resource", []jsonField{{name: "attributes", number: 1, many: true, fields: keyValue}}}
	resourceLogs := &message{"ResourceLogs", []jsonField{
		{name: "resource", number: 1, fields: resource}, {"scopeLogs", "scope_logs", 2, formMessage, true, scopeLogs},
	}}
	return &message{"ExportLogsServiceRequest", []jsonField{{"resourceLogs", "resource_logs", 1, formMessage, true, resourceLogs}}}
}

func (m *message) field(name string) *jsonField {
	for i := range m.fields {
		if f := &m.fields[i]; f.name == name || f.alias == name && name != "" {
			return f
		}
	}
	return nil
}

// appendMessage appends the fields of the object that begins at i. The text is JSON.
func appendMessage(dst []byte, m *message, text []byte, i int) (_ []byte, end int, err error) {
	end, err = list(text, i, '}', func(i int) (end int, err error) {
		name, i, err := keyAt(text, i)
		if err != nil {
			return i, err
		}
		f := m.field(name)
		if f == nil || text[i] == 'n' { // null is as good as nothing
			return skip(text, i)
		}
		if !f.many {
			dst, end, err = f.append(dst, m, text, i)
			return end, err
		}
		if text[i] != '[' {
			return i, f.fault(m, text, i, "an array")
		}
		return list(text, i, ']', func(i int) (end int, err error) {
			dst, end, err = f.append(dst, m, text, i)
			return end, err
		})
	})
	return dst, end, err
}

func (f *jsonField) fault(m *message, text []byte, i int, want string) error {
	return fmt.Errorf("byte %d of %d: %s of %s: want %s", i, len(text), f.name, m.name, want)
}

// appendLength appends the head of content that is to come; closeLength writes how long
// it has become.
func appendLength(dst []byte, number byte) []byte {
	return append(dst, number<<3|2, 0x80, 0x80, 0x80, 0x80, 0)
}

func closeLength(dst []byte, begin int) {
	n := uint64(len(dst) - begin)
	for i := begin - 5; i < begin-1; i++ {
		dst[i] = byte(n) | 0x80
		n >>= 7
	}
	dst[begin-1] = byte(n)
}

// append appends the field whose value begins at i.
func (f *jsonField) append(dst []byte, m *message, text []byte, i int) (_ []byte, end int, err error) {
	switch f.form {
	case formMessage:
		if text[i] != '{' {
			return dst, i, f.fault(m, text, i, "an object")
		}
		dst = appendLength(dst, f.number)
		begin := len(dst)
		dst, end, err = appendMessage(dst, f.fields, text, i)
		if err == nil {
			closeLength(dst, begin)
		}
		return dst, end, err
	case formText, formHex, formBase64:
		inner, end, _, err := stringAt(text, i)
		if err != nil {
			return dst, i, f.fault(m, text, i, "a string")
		}
		dst = appendLength(dst, f.number)
		begin := len(dst)
		switch f.form {
		case formText:
			dst = appendUnquoted(dst, inner)
		case formHex:
			dst, err = hex.AppendDecode(dst, appendUnquoted(nil, inner))
		default:
			dst, err = appendBase64(dst, appendUnquoted(nil, inner))
		}
		if err != nil {
			want := "hexadecimal digits"
			if f.form == formBase64 {
				want = "base64"
			}
			return dst, i, f.fault(m, text, i, want)
		}
		closeLength(dst, begin)
		return dst, end, nil
	case formBool:
		switch text[i] {
		case 't':
			return append(dst, f.number<<3, 1), i + len("true"), nil
		case 'f':
			return append(dst, f.number<<3, 0), i + len("false"), nil
		}
		return dst, i, f.fault(m, text, i, "true or false")
	}
	if end, err = skip(text, i); err != nil {
		return dst, end, err
	}
	word := string(text[i:end])
	if unquoted, err := strconv.Unquote(word); err == nil && text[i] == '"' {
		word = unquoted
	}
	number, ok := uint64(0), false
	want := "an integer"
	switch f.form {
	case formInt:
		number, ok = parseInt(word)
	case formSeverity:
		if number, ok = severities[strings.TrimPrefix(word, "SEVERITY_NUMBER_")]; !ok {
			number, ok = parseInt(word)
		}
	case formTime:
		if number, err = strconv.ParseUint(word, 10, 64); err == nil {
			ok = true
		} else {
			number, ok = parseInt(word)
		}
		want = "nanoseconds"
	default:
		var v float64
		v, ok = parseDouble(word)
		number, want = math.Float64bits(v), "a number"
	}
	if !ok {
		return dst, i, f.fault(m, text, i, want)
	}
	if f.form == formTime || f.form == formDouble {
		return binary.LittleEndian.AppendUint64(append(dst, f.number<<3|1), number), end, nil
	}
	return binary.AppendUvarint(append(dst, f.number<<3), number), end, nil
}

// parseInt reads an integer, which may be written with a fraction of zero or an exponent.
func parseInt(word string) (uint64, bool) {
	if n, err := strconv.ParseInt(word, 10, 64); err == nil {
		return uint64(n), true
	}
	v, err := strconv.ParseFloat(word, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) >= 1<<63 || strings.ContainsAny(word, "xX_pPiI") {
		return 0, false
	}
	return uint64(int64(v)), true
}

// parseDouble reads a number, or a word for what is none.
func parseDouble(word string) (float64, bool) {
	switch word {
	case "NaN":
		return math.NaN(), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	v, err := strconv.ParseFloat(word, 64)
	if strings.ContainsAny(word, "xX_pPnN") {
		return 0, false
	}
	return v, err == nil || errors.Is(err, strconv.ErrRange) // out of range is infinite
}

// severities are the names of severity numbers.
var severities = func() map[string]uint64 {
	all := map[string]uint64{"UNSPECIFIED": 0}
	for i, name := range []string{"TRACE", "DEBUG", "INFO", "WARN", "ERROR", "FATAL"} {
		for j := range 4 {
			all[name+strings.TrimPrefix(strconv.Itoa(j+1), "1")] = uint64(4*i + j + 1)
		}
	}
	return all
}()

// appendBase64 appends what a text of either alphabet stands for, padded or not.
func appendBase64(dst, text []byte) ([]byte, error) {
	for i, c := range text {
		switch c {
		case '-':
			text[i] = '+'
		case '_':
			text[i] = '/'
		}
	}
	for len(text) > 0 && text[len(text)-1] == '=' {
		text = text[:len(text)-1]
	}
	return base64.RawStdEncoding.AppendDecode(dst, text)
}
