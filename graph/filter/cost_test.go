package filter_test

import (
	"strings"
	"testing"

	"github.com/sluicehq/sluice/graph/format"
	"github.com/sluicehq/sluice/sigma/engine"
)

// record is a usual event.
const record = `{"EventID":4688,"Computer":"ws01.example.org","User":{"Name":"ana","Domain":"EXAMPLE","Sid":"S-1-5-21-1-2-3-1001"},` +
	`"Image":"C:\\Windows\\System32\\cmd.exe","CommandLine":"cmd.exe /c whoami /all","ParentImage":"C:\\Windows\\explorer.exe",` +
	`"Hashes":["SHA1=da39a3ee5e6b4b0d3255bfef95601890afd80709","MD5=d41d8cd98f00b204e9800998ecf8427e"],"ProcessId":4242,"Elevated":false,"Time":"2026-03-01T10:20:30.123Z"}`

// BenchmarkLine is what a line costs until its events are decoded: without a filter, with
// the filter that leaves it as it is, with one that takes a batch of ten apart, and with
// one that changes an event.
func BenchmarkLine(b *testing.B) {
	ten := `{"Records":[` + strings.TrimSuffix(strings.Repeat(record+",", 10), ",") + `]}`
	for _, tc := range []struct {
		name, program, query, line string
		events                     int
	}{
		{"none", "", "", record, 1},
		{"jq identity", ".", "", record, 1},
		{"jq records", ".Records[]", "", ten, 10},
		{"jq select", `select(.EventID == 4688) | .User = .User.Name | del(.Hashes)`, "", record, 1},
		{"jsonpath identity", "", "$", record, 1},
		{"jsonpath records", "", "$.Records[*]", ten, 10},
		{"jsonpath filter", "", "$.Records[?@.EventID == 4688]", ten, 10},
	} {
		b.Run(tc.name, func(b *testing.B) {
			set := ruleSet(b)
			d, w, ev := &format.Decoder{Format: format.JSON}, set.NewWorker(), new(engine.Events)
			if tc.program+tc.query != "" {
				d.Filter = compile(b, tc.program, tc.query)
			}
			line := []byte(tc.line)
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				ev.Reset()
				if _, err := d.Decode(w, ev, line, 0); err != nil || ev.Len() != tc.events {
					b.Fatalf("%d events, %v, want %d", ev.Len(), err, tc.events)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*tc.events), "ns/event")
		})
	}
}

// A decoder without a filter allocates nothing for a line of JSON, as before there were
// filters.
func TestNoFilterCostsNothing(t *testing.T) {
	d, w, ev := &format.Decoder{Format: format.JSON}, ruleSet(t).NewWorker(), new(engine.Events)
	line := []byte(record)
	if n := testing.AllocsPerRun(100, func() {
		ev.Reset()
		if _, err := d.Decode(w, ev, line, 0); err != nil {
			t.Fatal(err)
		}
		if err := d.Value(w, ev, line); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
