package format

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/sluicehq/sluice/internal/sigmatest"
	"github.com/sluicehq/sluice/sigma/engine"
)

// asJSON decodes the lines and returns their events as JSON.
func asJSON(tb testing.TB, d *Decoder, w *engine.Worker, lines [][]byte) [][]byte {
	tb.Helper()
	out := make([][]byte, len(lines))
	for i, line := range lines {
		ev := new(engine.Events)
		if _, err := d.Decode(w, ev, line, march); err != nil {
			tb.Fatal(err)
		}
		out[i] = ev.AppendJSON(nil, 0)
	}
	return out
}

func TestLinesOfKnownKeysAreDecodedWithoutAllocating(t *testing.T) {
	a := newAgreement(t)
	key := map[string]string{
		"RFC 5424": `"procid":`, "RFC 5424 with data": `"meta@32473.status":`, "RFC 3164": `"timestamp":`, "syslog with JSON": `"syslog_hostname":`,
		"logfmt": `"caller":`, "CEF": `"cs1Label":`, "CEF in syslog": `"deviceVendor":`,
	}
	for _, kind := range sigmatest.LineKinds() {
		d, err := NewDecoder(kind.Format, "+05:30", true)
		if err != nil {
			t.Fatal(err)
		}
		lines, ev := kind.Lines(100), new(engine.Events)
		run := func() {
			ev.Reset()
			for _, line := range lines {
				if _, err := d.Decode(a.plain, ev, line, march); err != nil {
					t.Fatal(err)
				}
			}
		}
		run()
		for i, event := range asJSON(t, d, a.plain, lines) {
			if want := key[kind.Name]; want == "" || !bytes.Contains(event, []byte(want)) {
				t.Fatalf("%s: %s\nis %s without %s", kind.Name, lines[i], event, want)
			}
		}
		if got := testing.AllocsPerRun(10, run); got != 0 {
			t.Errorf("%s: %v allocations for %d lines, want none", kind.Name, got, len(lines))
		}
	}
}

func BenchmarkLine(b *testing.B) {
	a := newAgreement(b)
	for _, kind := range sigmatest.LineKinds() {
		d, err := NewDecoder(kind.Format, "UTC", true)
		if err != nil {
			b.Fatal(err)
		}
		lines := kind.Lines(100)
		each := func(b *testing.B, lines [][]byte, do func(line []byte)) {
			b.Helper()
			size := 0
			for _, line := range lines {
				size += len(line)
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				for _, line := range lines {
					do(line)
				}
			}
		}
		b.Run(kind.Name, func(b *testing.B) {
			ev := new(engine.Events)
			each(b, lines, func(line []byte) {
				ev.Reset()
				if _, err := d.Decode(a.plain, ev, line, march); err != nil {
					b.Fatal(err)
				}
			})
		})
		objects := asJSON(b, d, a.plain, lines)
		b.Run(kind.Name+" as JSON, json.Valid", func(b *testing.B) {
			each(b, objects, func(line []byte) { json.Valid(line) })
		})
	}
}
