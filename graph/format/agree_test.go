package format

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/engine"
	"github.com/sluicehq/sluice/sigma/event"
	"github.com/sluicehq/sluice/sigma/load"
)

const march = 1_773_100_800 // 2026-03-10T00:00:00Z

// agreement compares what the decoders make of lines with what the reference does. Rules
// on fields and keywords let events have cells of every sort.
type agreement struct {
	plain, reference *engine.Worker
}

func newAgreement(tb testing.TB) *agreement {
	tb.Helper()
	c := load.FromBytes("rules.yml", []byte(`
title: Fields
logsource: {product: linux}
detection:
  selection: {hostname: h, a.b: c, msg|contains: x, timestamp: y, k: v, a: b, src: s}
  words: [evil, harm]
  condition: selection or words
`), load.Options{})
	for _, r := range c.Rejected {
		tb.Fatal(r.Problems)
	}
	set, err := engine.Compile(c.Rules, engine.Options{})
	if err != nil {
		tb.Fatal(err)
	}
	return &agreement{set.NewWorker(), set.NewWorker()}
}

// check decodes a line in the format of d and compares it with the object, or the
// pairs, of the reference.
func (a *agreement) check(t *testing.T, d Decoder, line []byte, arrival int64, doc []byte, pairs []pair) {
	t.Helper()
	got, want := new(engine.Events), new(engine.Events)
	before := string(line)
	if _, err := d.Decode(a.plain, got, line, arrival); err != nil {
		t.Fatalf("%s: %v", d.Format, err)
	}
	if string(line) != before {
		t.Fatalf("%s: the line was changed", d.Format)
	}
	if limit := 100*len(line) + 4<<10; got.Held() > limit {
		t.Errorf("%s: events of %d bytes hold %d, want at most %d", d.Format, len(line), got.Held(), limit)
	}
	if doc != nil {
		if err := a.reference.DecodeJSON(want, doc); err != nil {
			t.Fatal(err)
		}
		if got.Len() != 1 || got.Kind(0) != event.JSON || string(got.Root(0).Raw) != string(doc) {
			t.Errorf("%s: %q\ngot  %s\nwant %s", d.Format, line, got.AppendJSON(nil, 0), doc)
		}
		return
	}
	same := false // with the cells and values of repeated keys
	for range 2 {
		p := a.reference.Pairs(want)
		for _, pair := range pairs {
			p.Add([]byte(pair.Key), []byte(pair.Value))
		}
		p.End()
		if same = reflect.DeepEqual(got, want); same {
			break
		}
		want.Reset() // counts: the line may have been read as JSON first
	}
	if !same {
		t.Errorf("%s: %q\ngot  %s\nwant %q", d.Format, line, got.AppendJSON(nil, 0), pairs)
	}
	if !json.Valid(got.AppendJSON(nil, 0)) {
		t.Errorf("%s: %q is no JSON", d.Format, got.AppendJSON(nil, 0))
	}
}

// seeds are lines of every kind.
func seeds(f *testing.F, format string, add func(line []byte)) {
	f.Helper()
	for _, kind := range sigmatest.LineKinds() {
		if kind.Format == format {
			for _, line := range kind.Lines(6) {
				add(line)
			}
		}
	}
}

// Lines are decoded as the reference does, with or without a zone and a byte order mark,
// at any time.
func FuzzSyslogAgreesWithTheReference(f *testing.F) {
	add := func(line []byte) { f.Add(line, int16(330), uint32(march), false) }
	seeds(f, "syslog", add)
	for _, s := range []string{
		`<13>Jan  5 03:04:05 gw1 sshd[991]: Accepted`, `<34>hello`, `1 - h a - - [x y][z k="\n\]\x" k="2"] m`, `- h tag: [a k="v"] [note] - m`,
		`<0>- h a: {}`, "<34>1 - h1 su - ID4 - \ufeffan event", `- sshd[7]: hello`, `- gw1: x`, `- host -: - text`, `Feb 29 2023 00:00:00 h a: x`,
		`<134>1 2026-03-01T10:20:30+05:30 h1 app - - [a b="c\"d"] {"EventID":7,"syslog_hostname":"keep","sd.a.b":1}`,
		`<1>1 - h - - - [a b="1"][a b="2"] {"\u0073yslog_hostname":"keep", "x":[{}] }`, `<1>1 2026-03-01T1:20:30,5Z h - - - - {"a":"x}`,
		"<1>1 2026-02-29T10:20:30Z h - - - - x", "1 2026-03-01T10:20:30.0000000000000Z h - - - - x", "\xff \u00a0<1>- \xff: \xffx",
		`<1>1 9999-12-31T23:59:59.999999999+24:00 h - - - [] x`, `<1>1 0000-01-01T00:00:00-00:00 h - - - [id] x`,
	} {
		add([]byte(s))
	}
	a := newAgreement(f)
	f.Fuzz(func(t *testing.T, line []byte, offset int16, arrival uint32, keep bool) {
		d := Decoder{Format: Syslog, KeepBOM: keep}
		if offset != 0 {
			d.Zone = time.FixedZone("", 60*(int(offset)%(24*60)))
		}
		doc, pairs := d.refSyslog(a.reference, string(line), int64(arrival))
		a.check(t, d, line, int64(arrival), doc, pairs)
		if d.Format = Auto; first(line) != '<' {
			return
		}
		if m, ok := refParse(string(line), d.zone(), int64(arrival)); ok {
			doc, pairs = d.refMessage(a.reference, m)
			a.check(t, d, line, int64(arrival), doc, pairs)
		}
	})
}

func FuzzCEFAgreesWithTheReference(f *testing.F) {
	add := func(line []byte) { f.Add(line) }
	seeds(f, "cef", add)
	for _, s := range []string{
		`CEF: 1 |A|B\\|1|2| n |5|a=b=c d=  e=\\x\n= f=1`, `CEF:0|A|B|1|2|n|5`, `CEF:4294967296|||||||`, `CEF:000000000004294967295|a\||\|\||\||||a= =b \==c`,
		`CEF:0|||||||msg=1 msg=2 name=x k=`, "CEF:\u00a00\u00a0|||||||k=\u00a0v\\r\xff", `CEF:0|\`, `CEF:0|||||||a=\`,
	} {
		add([]byte(s))
	}
	a := newAgreement(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		if pairs, ok := refCef(string(line)); ok {
			a.check(t, Decoder{Format: CEF}, line, 0, nil, pairs)
			return
		}
		ev := new(engine.Events)
		if _, err := (&Decoder{Format: CEF}).Decode(a.plain, ev, line, 0); err == nil || ev.Len() != 0 {
			t.Errorf("%q: %d events and %v, want an error", line, ev.Len(), err)
		}
	})
}

func FuzzLogfmtAgreesWithTheReference(f *testing.F) {
	add := func(line []byte) { f.Add(line) }
	seeds(f, "logfmt", add)
	for _, s := range []string{
		`level=warn msg="disk \"sda\" full" retry= fatal url=/a?x=1`, `=junk a=1 a=2 a`, "k=\"\u00e9\\n\" \tj=\u00fc \"", `k="a b`, `k="a\`, `k="\"`, "a=\x00\xff \xff=\xfe \xfe=1",
	} {
		add([]byte(s))
	}
	a := newAgreement(f)
	f.Fuzz(func(t *testing.T, line []byte) {
		a.check(t, Decoder{Format: Logfmt}, line, 0, nil, refLogfmt(string(line)))
	})
}
