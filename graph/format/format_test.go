package format

import (
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/event"
)

func TestParse(t *testing.T) {
	for i, name := range []string{"auto", "json", "syslog", "plain", "logfmt", "cef"} {
		if got, err := Parse(name); got != Format(i) || err != nil || got.String() != name {
			t.Errorf("%s: got %v and %v", name, got, err)
		}
	}
	for _, name := range []string{"xml", "JSON", ""} {
		if _, err := Parse(name); err == nil || !strings.Contains(err.Error(), "(auto, json, syslog, plain, logfmt, cef)") {
			t.Errorf("%q: got error %v, want one with the list", name, err)
		}
	}
}

func TestParseZone(t *testing.T) {
	for _, tc := range []struct {
		text string
		want int // seconds, -1 for an error
	}{
		{"UTC", 0},
		{"utc", 0},
		{"Z", 0},
		{"+00:00", 0},
		{"+05:30", 19800},
		{"-5:00", -18000},
		{"+23:59", 86340},
		{"+0530", -1},
		{"05:30", -1},
		{"+24:00", -1},
		{"+05:60", -1},
		{"+x:00", -1},
		{"", -1},
		{"Utc", -1},
	} {
		zone, err := ParseZone(tc.text)
		if err != nil {
			if tc.want != -1 {
				t.Errorf("%q: got %v, want %d s", tc.text, err, tc.want)
			}
			continue
		}
		if _, got := time.Unix(0, 0).In(zone).Zone(); got != tc.want {
			t.Errorf("%q: got %d s, want %d", tc.text, got, tc.want)
		}
	}
}

func unix(t *testing.T, text string) int64 {
	t.Helper()
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return at.Unix()
}

func TestDecode(t *testing.T) {
	set, err := engine.Compile(nil, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const bom = "\ufeff"
	india := time.FixedZone("", 19800)
	for _, tc := range []struct {
		name    string
		decoder Decoder
		clock   string
		line    string
		kind    event.Kind
		json    string // empty for a parse error
	}{
		{"an object", Decoder{}, "", `{"user":"ana","n":3}`, event.JSON, `{"user":"ana","n":3}`},
		{"auto takes a broken object as text", Decoder{}, "", `{"user":"ana"`, event.Plain, `{"_raw":"{\"user\":\"ana\""}`},
		{"json refuses it", Decoder{Format: JSON}, "", `{"user":"ana"`, 0, ""},
		{"json refuses what follows the value", Decoder{Format: JSON}, "", `{"a":1} x`, 0, ""},
		{"json takes a scalar", Decoder{Format: JSON}, "", `7`, event.JSON, `7`},
		{"auto takes a scalar as text", Decoder{}, "", `7`, event.Plain, `{"_raw":"7"}`},
		{"an array in an array, after white space", Decoder{}, "", ` [ [1, {"a": 2}] ]`, event.JSON, `[1,{"a":2}]`},
		{"plain takes anything as text", Decoder{Format: Plain}, "", `{"a":1}`, event.Plain, `{"_raw":"{\"a\":1}"}`},
		{"invalid UTF-8 is replaced", Decoder{Format: Plain}, "", "a\xffb", event.Plain, "{\"_raw\":\"a\ufffdb\"}"},
		{"an object as received", Decoder{}, "", `{ "b" : 1.0, "a":1, "a" : "\u00e9" }`, event.JSON, `{"b":1.0,"a":1,"a":"\u00e9"}`},

		{"auto takes a line without header as text", Decoder{}, "", `<34>hello world`, event.Plain, `{"_raw":"<34>hello world"}`},
		{"syslog gives it one field", Decoder{Format: Syslog}, "", `<34>hello world`, event.Pairs, `{"_raw":"<34>hello world"}`},
		{
			"RFC 5424",
			Decoder{Format: Syslog},
			"", `<165>1 2026-03-01T10:20:30.5Z web01 nginx 812 REQ7 [meta@1 k="v" q="a\"b"] GET /x`, event.Pairs,
			`{"timestamp":"2026-03-01T10:20:30.500+00:00","hostname":"web01","appname":"nginx","procid":"812","msgid":"REQ7","facility":"LOG_LOCAL4","severity":"SEV_NOTICE","meta@1.k":"v","meta@1.q":"a\"b","_raw":"GET /x"}`,
		},
		{
			"RFC 3164",
			Decoder{Format: Syslog},
			"", `<13>Jan  5 03:04:05 gw1 sshd[991]: Accepted key for bob`, event.Pairs,
			`{"timestamp":"2026-01-05T03:04:05+00:00","hostname":"gw1","appname":"sshd","procid":"991","facility":"LOG_USER","severity":"SEV_NOTICE","_raw":"Accepted key for bob"}`,
		},
		{
			"local time of a zone",
			Decoder{Format: Syslog, Zone: india},
			"", `<13>Jan  5 03:04:05 gw1 sshd[991]: Accepted key for bob`, event.Pairs,
			`{"timestamp":"2026-01-05T03:04:05+05:30","hostname":"gw1","appname":"sshd","procid":"991","facility":"LOG_USER","severity":"SEV_NOTICE","_raw":"Accepted key for bob"}`,
		},
		{
			"the last second of the year, read in January",
			Decoder{Format: Syslog},
			"2026-01-02T00:00:00Z", `<13>Dec 31 23:59:58 gw1 cron: tick`, event.Pairs,
			`{"timestamp":"2025-12-31T23:59:58+00:00","hostname":"gw1","appname":"cron","facility":"LOG_USER","severity":"SEV_NOTICE","_raw":"tick"}`,
		},
		{
			"November, read in March",
			Decoder{Format: Syslog},
			"", `<13>Nov 20 10:00:00 gw1 cron: tick`, event.Pairs,
			`{"timestamp":"2025-11-20T10:00:00+00:00","hostname":"gw1","appname":"cron","facility":"LOG_USER","severity":"SEV_NOTICE","_raw":"tick"}`,
		},
		{
			"January, read on the last day of the year",
			Decoder{Format: Syslog},
			"2025-12-31T23:00:00Z", `Jan 1 00:30:00 gw1 cron: tick`, event.Pairs,
			`{"timestamp":"2026-01-01T00:30:00+00:00","hostname":"gw1","appname":"cron","_raw":"tick"}`,
		},
		{
			"a leap day",
			Decoder{Format: Syslog},
			"", `Feb 29 00:00:00 gw1 cron: tick`, event.Pairs,
			`{"timestamp":"2024-02-29T00:00:00+00:00","hostname":"gw1","appname":"cron","_raw":"tick"}`,
		},
		{"an impossible date", Decoder{Format: Syslog}, "", ` Feb 30 2026 00:00:00 gw1 cron: tick`, event.Pairs, `{"_raw":"Feb 30 2026 00:00:00 gw1 cron: tick"}`},
		{
			"a year is local time too",
			Decoder{Format: Syslog, Zone: india},
			"", `<13>mar 1 2026 10:00:00: gw1 app: x`, event.Pairs,
			`{"timestamp":"2026-03-01T10:00:00+05:30","hostname":"gw1","appname":"app","facility":"LOG_USER","severity":"SEV_NOTICE","_raw":"x"}`,
		},
		{
			"a JSON message with the header added",
			Decoder{},
			"", `<134>1 2026-03-01T10:20:30Z h1 app - - - {"EventID":7,"syslog_hostname":"keep"}`, event.JSON,
			`{"EventID":7,"syslog_hostname":"keep","syslog_timestamp":"2026-03-01T10:20:30+00:00","syslog_appname":"app","syslog_facility":"LOG_LOCAL0","syslog_severity":"SEV_INFO"}`,
		},
		{"a JSON message that is an array is text", Decoder{}, "", `<0>- h a: [{"b":1}]`, event.Pairs, `{"hostname":"h","appname":"a","facility":"LOG_KERN","severity":"SEV_EMERG","_raw":"[{\"b\":1}]"}`},
		{"so is one of two values", Decoder{}, "", `<0>- h a: {"b":1} {"c":2}`, event.Pairs, `{"hostname":"h","appname":"a","facility":"LOG_KERN","severity":"SEV_EMERG","_raw":"{\"b\":1} {\"c\":2}"}`},
		{"and a scalar", Decoder{}, "", `<0>- h a: 7`, event.Pairs, `{"hostname":"h","appname":"a","facility":"LOG_KERN","severity":"SEV_EMERG","_raw":"7"}`},
		{"an empty JSON message", Decoder{}, "", `<0>- h {}`, event.Pairs, `{"hostname":"h","appname":"{}","facility":"LOG_KERN","severity":"SEV_EMERG"}`},
		{
			"an empty JSON object behind a tag",
			Decoder{},
			"", `<0>- h a: {}`, event.JSON,
			`{"syslog_hostname":"h","syslog_appname":"a","syslog_facility":"LOG_KERN","syslog_severity":"SEV_EMERG"}`,
		},
		{
			"a byte order mark is removed",
			Decoder{Format: Syslog},
			"", `<34>1 2026-03-01T10:20:30Z h1 su - ID4 - ` + bom + `an event`, event.Pairs,
			`{"timestamp":"2026-03-01T10:20:30+00:00","hostname":"h1","appname":"su","msgid":"ID4","facility":"LOG_AUTH","severity":"SEV_CRIT","_raw":"an event"}`,
		},
		{
			"unless it is to stay",
			Decoder{Format: Syslog, KeepBOM: true},
			"", `<34>1 - h1 su - ID4 - ` + bom + `an event`, event.Pairs,
			`{"hostname":"h1","appname":"su","msgid":"ID4","facility":"LOG_AUTH","severity":"SEV_CRIT","_raw":"` + bom + `an event"}`,
		},
		{"a priority that is none", Decoder{}, "", `<999>1 2026-03-01T10:20:30Z h a - - - x`, event.Plain, `{"_raw":"<999>1 2026-03-01T10:20:30Z h a - - - x"}`},
		{"a facility above 23 is left out", Decoder{Format: Syslog}, "", `<255>1 - h a - - - x`, event.Pairs, `{"hostname":"h","appname":"a","severity":"SEV_DEBUG","_raw":"x"}`},
		{"an element that is not well formed is skipped", Decoder{Format: Syslog}, "", `1 - h a - - [x y][z k="\n\]\x"] m`, event.Pairs, `{"hostname":"h","appname":"a","z.k":"\n]\\x","_raw":"m"}`},
		{
			"elements of many parameters, one not well formed between them",
			Decoder{Format: Syslog},
			"", `1 - h a - - [k a="1" b="2" c="3" d="4" e="\""][x y][n][l f="6"  g="7" h="8" i="9" ] m`, event.Pairs,
			`{"hostname":"h","appname":"a","k.a":"1","k.b":"2","k.c":"3","k.d":"4","k.e":"\"","l.f":"6","l.g":"7","l.h":"8","l.i":"9","_raw":"m"}`,
		},
		{"RFC 3164 with an element", Decoder{Format: Syslog}, "", `- h tag: [a k="v"] [note] - m`, event.Pairs, `{"hostname":"h","appname":"tag","a.k":"v","_raw":"[note] - m"}`},
		{"a single token is the host", Decoder{Format: Syslog}, "", `- gw1`, event.Pairs, `{"hostname":"gw1"}`},
		{"unless it looks like a tag", Decoder{Format: Syslog}, "", `- sshd[7]: hello`, event.Pairs, `{"appname":"sshd","procid":"7","_raw":"hello"}`},
		{"a host that ends the header", Decoder{Format: Syslog}, "", `- gw1: hello`, event.Pairs, `{"hostname":"gw1","_raw":"hello"}`},
		{"no colon behind the tag", Decoder{Format: Syslog}, "", `- host word more text`, event.Pairs, `{"hostname":"host","appname":"word","_raw":"more text"}`},
		{"an absent tag keeps the host, a dash the message", Decoder{Format: Syslog}, "", `- host -: - text`, event.Pairs, `{"hostname":"host","_raw":"- text"}`},

		{
			"logfmt",
			Decoder{Format: Logfmt},
			"", `level=warn msg="disk \"sda\" full" retry= fatal url=/a?x=1`, event.Pairs,
			`{"level":"warn","msg":"disk \"sda\" full","retry":"","fatal":"true","url":"/a?x=1"}`,
		},
		{"a value without a key", Decoder{Format: Logfmt}, "", `=junk a=1`, event.Pairs, `{"a":"1"}`},
		{"logfmt without a pair is an event without fields", Decoder{Format: Logfmt}, "", `=`, event.Pairs, `{}`},
		{"logfmt keeps characters and other backslashes", Decoder{Format: Logfmt}, "", "k=\"é\\n\" \tj=ü \"", event.Pairs, `{"k":"é\\n","j":"ü","\"":"true"}`},
		{"a quote that is not closed", Decoder{Format: Logfmt}, "", `k="a b`, event.Pairs, `{"k":"a b"}`},

		{
			"cef in an envelope",
			Decoder{Format: CEF},
			"", `<134>Mar 1 10:00:00 fw CEF:0|Acme|FW|3.2|42|Blocked \| dropped|7|src=10.1.1.1 msg=user tried a\=b path act=deny`, event.Pairs,
			`{"cef_version":"0","deviceVendor":"Acme","deviceProduct":"FW","deviceVersion":"3.2","signatureId":"42","name":"Blocked | dropped","severity":"7","src":"10.1.1.1","msg":"user tried a=b path","act":"deny"}`,
		},
		{"six pipes", Decoder{Format: CEF}, "", `CEF:0|A|B|1|2|n|5`, 0, ""},
		{"cef without marker", Decoder{Format: CEF}, "", `0|A|B|1|2|n|5|`, 0, ""},
		{"a version that is no number", Decoder{Format: CEF}, "", `CEF:x|A|B|1|2|n|5|`, 0, ""},
		{
			"an equals sign without a word before it",
			Decoder{Format: CEF},
			"", `CEF: 1 |A|B\\|1|2| n |5|a=b=c d=  e=\\x\n= f=1`, event.Pairs,
			`{"cef_version":"1","deviceVendor":"A","deviceProduct":"B\\","deviceVersion":"1","signatureId":"2","name":" n ","severity":"5","a":"b=c","d":"","e":"\\x\n=","f":"1"}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			clock := tc.clock
			if clock == "" {
				clock = "2026-03-10T00:00:00Z"
			}
			ev := new(engine.Events)
			_, err := tc.decoder.Decode(set.NewWorker(), ev, []byte(tc.line), unix(t, clock))
			if tc.json == "" {
				if err == nil || ev.Len() != 0 {
					t.Errorf("got %d events and %v, want a parse error", ev.Len(), err)
				}
				return
			}
			if err != nil || ev.Len() != 1 {
				t.Fatalf("got %d events and %v, want one", ev.Len(), err)
			}
			if got := string(ev.AppendJSON(nil, 0)); got != tc.json || ev.Kind(0) != tc.kind {
				t.Errorf("got  %v %s\nwant %v %s", ev.Kind(0), got, tc.kind, tc.json)
			}
		})
	}
}

// No line, however hostile, panics a decoder, and what does not decode has a fault.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{
		`<165>1 2026-03-01T10:20:30.5Z web01 nginx 812 REQ7 [meta@1 k="v" q="a\"b"] GET /x`, `<13>Jan  5 03:04:05 gw1 sshd[991]: x`,
		`CEF:0|A|B|1|2|n|5|a=b c=d\=`, `a="b\" c= =`, `<1>- h a: {"x":{}}`, `[1,2`, `<`, `CEF:`,
		`{"a":1}{"b":[-0.5e+1,"\u00e9\\"]} [true,[]]`, `[1] 2`, `01`, `1-2`, "[\"\t\"]", `{"a" 1}`, `{a:1}`, `[1 2]`,
	} {
		f.Add([]byte(s))
	}
	set, err := engine.Compile(nil, engine.Options{})
	if err != nil {
		f.Fatal(err)
	}
	w := set.NewWorker()
	f.Fuzz(func(t *testing.T, line []byte) {
		for format := Auto; format <= CEF; format++ {
			ev := new(engine.Events)
			d := Decoder{Format: format}
			suspect, err := d.Decode(w, ev, line, 1_773_100_800)
			if limit := 100*len(line) + 4<<10; ev.Held() > limit {
				t.Errorf("%s: events of %d bytes hold %d, want at most %d", format, len(line), ev.Held(), limit)
			}
			fails := format == JSON || format == CEF
			if (err != nil && (!fails || ev.Len() != 0)) || err == nil && !format.Values() && ev.Len() != 1 {
				t.Errorf("%s: %d events and %v from %q", format, ev.Len(), err, line)
			}
			if !format.Values() {
				continue
			}
			broken := err != nil || suspect
			if fault, ok := FindFault(line, format == Auto); ok != broken && (format == JSON || first(line) == '{' || first(line) == '[') {
				t.Errorf("%s: broken %t, fault %+v, in %q", format, broken, fault, line)
			} else if ok && (fault.Offset < 0 || fault.Offset > len(line) || fault.Kind == "") {
				t.Errorf("%s: fault %+v of %q", format, fault, line)
			}
		}
	})
}
