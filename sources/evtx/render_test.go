package evtx

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	. "github.com/sluicehq/sluice/sources/evtx/evtxtest"
)

// shape is a record and what is rendered of it.
type shape struct {
	name   string
	record Element
	values []Value
	want   string
	// differs says why the form of other readers is another one.
	differs string
}

// event is a template whose only element has the content.
func event(children ...Node) Element { return El("Event", children...) }

// ofValue is an event with one element X of the first value.
var ofValue = event(El("X", Sub{}))

func eventData(children ...Node) Element { return event(El("EventData", children...)) }

func named(name string, n uint16) Node { return El("Data", Sub{Number: n}).With("Name", Text(name)) }

var shapes = []shape{
	{"an element without anything is null", event(El("X")), nil, `{"Event":{"X":null}}`, ""},
	{"an element with text is that text", event(El("X", Text("a"), Text("b"))), nil, `{"Event":{"X":"ab"}}`, ""},
	{"empty text is null", event(El("X", Text(""))), nil, `{"Event":{"X":null}}`, ""},
	{"attributes and text", event(El("EventID", Sub{}).With("Qualifiers", Sub{Number: 1})), []Value{Uint16(7036), Uint16(16384)}, `{"Event":{"EventID":{"#attributes":{"Qualifiers":16384},"#text":7036}}}`, ""},
	{"attributes without text", event(El("X").With("A", Text("b")).With("C", Sub{})), []Value{Int32(-1)}, `{"Event":{"X":{"#attributes":{"A":"b","C":-1}}}}`, ""},
	{"empty attributes are left out", event(El("X", Text("t")).With("A", Sub{}).With("B", Text("")).With("C", Text("c"))), []Value{Null()}, `{"Event":{"X":{"#attributes":{"C":"c"},"#text":"t"}}}`, ""},
	{"an element whose attributes are all empty is its text", event(El("X", Text("t")).With("A", Sub{Optional: true})), []Value{Null()}, `{"Event":{"X":"t"}}`, ""},
	{"an element of empty attributes only is null", event(El("Security").With("UserID", Sub{Optional: true})), []Value{Null()}, `{"Event":{"Security":null}}`, ""},
	{"an optional value that is null leaves nothing", event(El("X", Sub{Optional: true})), []Value{Null()}, `{"Event":{"X":null}}`, ""},
	{"a value that is not there leaves nothing", event(El("X", Sub{Number: 9})), nil, `{"Event":{"X":null}}`, ""},
	{"text beside elements", event(Text("t"), El("X", Text("x"))), nil, `{"Event":{"#text":"t","X":"x"}}`, ""},
	{"a number with text beside it is text", event(El("X", Sub{}, Text("%"))), []Value{Uint8(5)}, `{"Event":{"X":"5%"}}`, ""},
	{"repeated names get suffixes", event(El("H", Text("a")), El("I"), El("H", Text("b")), El("H", Text("c"))), nil, `{"Event":{"H":"a","I":null,"H_1":"b","H_2":"c"}}`, ""},
	{"references in text", event(El("X", Entity("lt"), Text("a"), Entity("amp"), Entity("quot"), Entity("apos"), Entity("gt"), Entity("nbsp"))), nil, `{"Event":{"X":"<a&\"'>&nbsp;"}}`, ""},

	{"Data with names", eventData(named("A", 0), named("B", 1), named("C", 2)), []Value{String("a"), Uint32(2), Null()}, `{"Event":{"EventData":{"A":"a","B":2,"C":""}}}`, ""},
	{"Data without a name", eventData(El("Data", Sub{})), []Value{String("a")}, `{"Event":{"EventData":{"Data":{"#text":"a"}}}}`, ""},
	{"several Data without a name", eventData(El("Data", Sub{}), El("Binary"), El("Data", Sub{Number: 1}), El("Data", Sub{Number: 2})), []Value{String("a"), Null(), Uint8(3)}, `{"Event":{"EventData":{"Data":{"#text":["a","",3]},"Binary":null}}}`, ""},
	{"an empty Data without a name", eventData(El("Data", Sub{})), []Value{Null()}, `{"Event":{"EventData":{"Data":{"#text":""}}}}`, ""},
	{"a name that is a value", eventData(El("Data", Sub{Number: 1}).With("Name", Sub{})), []Value{String("K"), String("v")}, `{"Event":{"EventData":{"K":"v"}}}`, ""},
	{"Data in UserData", event(El("UserData", named("A", 0))), []Value{String("a")}, `{"Event":{"UserData":{"A":"a"}}}`, ""},
	{"Data elsewhere is an element like others", event(El("Other", El("Data", Text("a")).With("Name", Text("N")))), nil, `{"Event":{"Other":{"Data":{"#attributes":{"Name":"N"},"#text":"a"}}}}`, ""},
	{"the attributes of EventData", event(El("EventData", named("A", 0)).With("Name", Text("TaskDisabled"))), []Value{String("a")}, `{"Event":{"EventData":{"#attributes":{"Name":"TaskDisabled"},"A":"a"}}}`, ""},
	{"elements in Data", eventData(El("Data", El("P", Text("x"))).With("Name", Text("N"))), nil, `{"Event":{"EventData":{"N":{"P":"x"}}}}`, ""},
	{"EventData without anything", event(El("EventData")), nil, `{"Event":{"EventData":null}}`, ""},

	{"a list as several Data without a name", eventData(El("Data", Sub{}), El("Binary", Sub{Number: 1})), []Value{Strings("a", "", "c"), Binary("\x01\xfe")}, `{"Event":{"EventData":{"Data":{"#text":["a","","c"]},"Binary":"01FE"}}}`, ""},
	{"a list of one is its item", eventData(El("Data", Sub{})), []Value{Strings("a")}, `{"Event":{"EventData":{"Data":{"#text":"a"}}}}`, ""},
	{"a list repeats its element", event(El("X", Sub{}).With("A", Text("b"))), []Value{Array(Uint16(1), Uint16(2))}, `{"Event":{"X":{"#attributes":{"A":"b"},"#text":1},"X_1":{"#attributes":{"A":"b"},"#text":2}}}`, ""},
	{"a list in an attribute repeats its element", event(El("X").With("A", Sub{})), []Value{Strings("a", "b")}, `{"Event":{"X":{"#attributes":{"A":"a"}},"X_1":{"#attributes":{"A":"b"}}}}`, ""},
	{"a list under a name is an array", eventData(named("A", 0), named("B", 1)), []Value{Strings("a", "", "c"), Uint8(1)}, `{"Event":{"EventData":{"A":["a","","c"],"B":1}}}`, "it has the key several times"},
	{"a name that comes back later", eventData(named("A", 0), named("B", 1), named("A", 2)), []Value{String("a"), String("b"), String("c")}, `{"Event":{"EventData":{"A":"a","B":"b","A_1":"c"}}}`, "it has the key several times"},
	{"names for some Data only", eventData(named("A", 0), El("Data", Sub{Number: 1})), []Value{String("a"), String("b")}, `{"Event":{"EventData":{"A":"a","Data":{"#text":"b"}}}}`, "it leaves out what has no name"},
	{"sections of text", event(El("X", CData("<a>"))), nil, `{"Event":{"X":"<a>"}}`, "it does not read them"},
	{"characters by number", event(El("X", Char(0x41), Char('"'))), nil, `{"Event":{"X":"A\""}}`, "it does not read them"},

	{"a fragment", event(El("UserData", Sub{})), []Value{Fragment(El("Cleared", El("User", Text("ann"))))}, `{"Event":{"UserData":{"Cleared":{"User":"ann"}}}}`, ""},
	{"a template in a fragment", event(El("UserData", Sub{})), []Value{Fragment(Put(&inner, String("ann"), Null()))}, `{"Event":{"UserData":{"Cleared":{"User":"ann","Path":null}}}}`, ""},
	{"an empty fragment", event(El("UserData", Sub{})), []Value{{Kind: 0x21}}, `{"Event":{"UserData":null}}`, ""},

	{"null", ofValue, []Value{Null()}, `{"Event":{"X":null}}`, ""},
	{"text", ofValue, []Value{String("a\t\"b\\\r\né€😀\x01\x7f")}, `{"Event":{"X":"a\t\"b\\\r\né€😀\u0001` + "\x7f" + `"}}`, ""},
	{"text ends at its first NUL", ofValue, []Value{String("a\x00b")}, `{"Event":{"X":"a"}}`, ""},
	{"half a surrogate pair", ofValue, []Value{{Kind: 1, Data: []byte{0x3d, 0xd8, 'a', 0}}}, `{"Event":{"X":"` + "\ufffd" + `a"}}`, "it leaves the half out"},
	{"text of a code page", ofValue, []Value{ANSI("caf\xe9 \x80\x00")}, `{"Event":{"X":"café €"}}`, ""},
	{"int8", ofValue, []Value{Int8(-128)}, `{"Event":{"X":-128}}`, ""},
	{"uint8", ofValue, []Value{Uint8(255)}, `{"Event":{"X":255}}`, ""},
	{"int16", ofValue, []Value{Int16(-32768)}, `{"Event":{"X":-32768}}`, ""},
	{"uint16", ofValue, []Value{Uint16(65535)}, `{"Event":{"X":65535}}`, ""},
	{"int32", ofValue, []Value{Int32(-5)}, `{"Event":{"X":-5}}`, ""},
	{"uint32", ofValue, []Value{Uint32(math.MaxUint32)}, `{"Event":{"X":4294967295}}`, ""},
	{"int64", ofValue, []Value{Int64(math.MinInt64)}, `{"Event":{"X":-9223372036854775808}}`, ""},
	{"uint64", ofValue, []Value{Uint64(math.MaxUint64)}, `{"Event":{"X":18446744073709551615}}`, ""},
	{"real numbers are text", event(El("X", Sub{}), El("Y", Sub{Number: 1}), El("Z", Sub{Number: 2})), []Value{Real32(0.1), Real64(-2), Real64(1e300)}, `{"Event":{"X":"0.1","Y":"-2.0","Z":"1e+300"}}`, ""},
	{"booleans", event(El("X", Sub{}), El("Y", Sub{Number: 1})), []Value{Bool(1), Bool(0)}, `{"Event":{"X":true,"Y":false}}`, ""},
	{"a boolean that holds flags is a number", ofValue, []Value{Bool(6)}, `{"Event":{"X":6}}`, ""},
	{"bytes", ofValue, []Value{Binary("\x00\x9f\xff")}, `{"Event":{"X":"009FFF"}}`, ""},
	{"a GUID", ofValue, []Value{GUID("\x25\x96\x84\x54\x78\x54\x94\x49\xa5\xba\x3e\x3b\x03\x28\xc3\x0d")}, `{"Event":{"X":"54849625-5478-4994-A5BA-3E3B0328C30D"}}`, ""},
	{"pointers", event(El("X", Sub{}), El("Y", Sub{Number: 1})), []Value{Pointer(0xbeef, 4), Pointer(1<<40, 8)}, `{"Event":{"X":"0xbeef","Y":"0x10000000000"}}`, ""},
	{"a time, to the microsecond", ofValue, []Value{FileTime(when)}, `{"Event":{"X":"2026-03-10T12:30:01.815720Z"}}`, ""},
	{"a time by its parts", ofValue, []Value{SystemTime(2026, 3, 2, 10, 12, 5, 9, 7)}, `{"Event":{"X":"2026-03-10T12:05:09.007000Z"}}`, ""},
	{"a time by its parts that is not set", ofValue, []Value{SystemTime(0, 0, 0, 0, 0, 0, 0, 0)}, `{"Event":{"X":"1601-01-01T00:00:00.000000Z"}}`, ""},
	{"a security identifier", ofValue, []Value{SID(5, 21, 1332095402, 1001)}, `{"Event":{"X":"S-1-5-21-1332095402-1001"}}`, ""},
	{"hexadecimal numbers", event(El("X", Sub{}), El("Y", Sub{Number: 1}), El("Z", Sub{Number: 2})), []Value{Hex32(0), Hex32(0xABCD), Hex64(0x8020000000000000)}, `{"Event":{"X":"0x0","Y":"0xabcd","Z":"0x8020000000000000"}}`, ""},
	{"lists of every type", eventData(El("Data", Sub{}), El("Data", Sub{Number: 1}), El("Data", Sub{Number: 2}), El("Data", Sub{Number: 3}), El("Data", Sub{Number: 4}), El("Data", Sub{Number: 5})), []Value{
		Array(Int8(-1), Int8(2)), Array(Bool(0), Bool(1)), Array(SID(5, 18), SID(1, 0)), Array(Hex64(1), Hex64(255)), Array(FileTime(when), FileTime(when)), Array(Real64(1.5), Real64(2)),
	}, `{"Event":{"EventData":{"Data":{"#text":[-1,2,false,true,"S-1-5-18","S-1-1-0","0x1","0xff","2026-03-10T12:30:01.815720Z","2026-03-10T12:30:01.815720Z","1.5","2.0"]}}}}`, ""},
	{"values in the template itself", event(El("X", Literal(Uint32(7))), El("Y", Literal(Bool(1)))), nil, `{"Event":{"X":7,"Y":true}}`, ""},
	{"bytes in the template itself", event(El("X", Literal(Binary("\x01")))), nil, `{"Event":{"X":"01"}}`, "it does not read them"},

	{"a number that is shorter than its type", ofValue, []Value{{Kind: 0x08, Data: []byte{1, 2}}}, `{"Event":{"X":"0102"}}`, "it reads on behind the value"},
	{"a number that is longer than its type", event(El("X", Sub{}), El("Y", Sub{Number: 1})), []Value{{Kind: 0x06, Data: []byte{1, 2, 3}}, Uint8(4)}, `{"Event":{"X":513,"Y":4}}`, ""},
	{"a boolean of one byte", ofValue, []Value{{Kind: 0x0d, Data: []byte{1}}}, `{"Event":{"X":true}}`, "it reads on behind the value"},
	{"a type that nobody knows", ofValue, []Value{{Kind: 0x55, Data: []byte{0xab}}}, `{"Event":{"X":"AB"}}`, "it gives the record up"},
	{"a security identifier that breaks off", ofValue, []Value{{Kind: 0x13, Data: []byte{1, 5, 0}}}, `{"Event":{"X":"010500"}}`, "it gives the record up"},
	{"a time that no calendar has", ofValue, []Value{SystemTime(2026, 13, 0, 40, 25, 61, 61, 1)}, `{"Event":{"X":"2026-13-40T25:61:61.001000Z"}}`, "it gives the record up"},
	{"a time far away", ofValue, []Value{{Kind: 0x11, Data: []byte(strings.Repeat("\xff", 8))}}, `{"Event":{"X":"60056-05-28T05:36:10.955161Z"}}`, "it gives the record up"},
}

var inner = El("Cleared", El("User", Sub{}), El("Path", Sub{Number: 1, Optional: true}))

func TestRecordsAreRendered(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			lines, faults := readAll(t, one(Put(&s.record, s.values...)))
			if len(lines) != 1 || len(faults) > 0 {
				t.Fatalf("read %d records, faults %v", len(lines), faults)
			}
			if !json.Valid([]byte(lines[0])) || lines[0] != strings.ReplaceAll(strings.ReplaceAll(s.want, "\t", `\t`), "\r\n", `\r\n`) {
				t.Errorf("got  %s\nwant %s", lines[0], s.want)
			}
		})
	}
}

// The content of a record is nearly always a template. It need not be.
func TestARecordMayHaveItsElementsItself(t *testing.T) {
	lines, faults := readAll(t, one(event(El("System", El("EventID", Text("1"))))))
	if len(faults) > 0 || len(lines) != 1 || lines[0] != `{"Event":{"System":{"EventID":"1"}}}` {
		t.Errorf("got %v, faults %v", lines, faults)
	}
}

// The records of a chunk share a template: the values of one do not show in the next.
func TestRecordsShareATemplate(t *testing.T) {
	l := New()
	record := eventData(named("A", 0), named("B", 1), El("Data", Sub{Number: 2}))
	l.Add(when, &record, Strings("a", "b"), Uint8(1), String("x"))
	l.Add(when, &record, Null(), Null(), Null())
	l.Add(when, &record, String("c"), Strings("d", "e", "f"), Strings("y", "z"))
	lines, faults := readAll(t, l.Bytes())
	want := []string{
		`{"Event":{"EventData":{"A":["a","b"],"B":1,"Data":{"#text":"x"}}}}`,
		`{"Event":{"EventData":{"A":"","B":"","Data":{"#text":""}}}}`,
		`{"Event":{"EventData":{"A":"c","B":["d","e","f"],"Data":{"#text":["y","z"]}}}}`,
	}
	if len(faults) > 0 || strings.Join(lines, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nfaults %v", strings.Join(lines, "\n"), faults)
	}
}

// Many elements of one body are counted in another way than few.
func TestSuffixesOfManyElements(t *testing.T) {
	record := El("Event")
	for i := range 3 * fewKeys {
		record.Children = append(record.Children, El("N"+strings.Repeat("i", i%(2*fewKeys))))
	}
	lines, faults := readAll(t, one(Put(&record)))
	if len(faults) > 0 || len(lines) != 1 {
		t.Fatalf("got %v, faults %v", lines, faults)
	}
	if n := strings.Count(lines[0], "_1\":null"); n != fewKeys || strings.Contains(lines[0], "_2") {
		t.Errorf("%d names have a suffix, want %d", n, fewKeys)
	}
}
