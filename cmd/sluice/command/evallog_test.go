package command

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sources/evtx/evtxtest"
)

// eventLog is a file of n records of processes that were started, as Windows writes it.
func eventLog(n int) string {
	l, templates := evtxtest.New(), make(evtxtest.Templates)
	for i := range n {
		templates.Add(l, evtxtest.Event{
			Time: time.Unix(1_773_144_000+int64(i), 0), Provider: "Microsoft-Windows-Sysmon", Channel: "Microsoft-Windows-Sysmon/Operational", ID: 1,
			Data: []evtxtest.Field{{Name: "Image", Value: evtxtest.String(`C:\w\tool.exe`)}, {Name: "CommandLine", Value: evtxtest.String(fmt.Sprintf("whoami %d", i))}, {Name: "User", Value: evtxtest.String("ann")}},
		})
	}
	return string(l.Bytes())
}

// damaged is an event log whose records with those numbers, from 0, cannot be read.
func damaged(log string, numbers ...int) string {
	b := []byte(log)
	at := evtxtest.Records(b)
	for _, n := range numbers {
		binary.LittleEndian.PutUint32(b[at[n]+4:], 20)
	}
	return string(b)
}

// bare is an event log whose only record says neither channel nor provider.
func bare() string {
	l := evtxtest.New()
	template := evtxtest.El("Event", evtxtest.El("EventData", evtxtest.El("Data", evtxtest.Sub{}).With("Name", evtxtest.Text("CommandLine"))))
	l.Add(time.Unix(0, 0), &template, evtxtest.String("whoami"))
	return string(l.Bytes())
}

const (
	recordRule  = "title: Started\nlogsource: {product: windows}\ndetection: {sel: {Event.System.EventID: 1, 'Event.EventData.CommandLine|contains': whoami}, condition: sel}\n"
	bareRule    = "title: Bare\nlogsource: {product: windows}\ndetection: {sel: {Event.EventData.CommandLine: whoami}, condition: sel}\n"
	linuxRecord = "title: Linux\nlogsource: {product: linux}\ndetection: {sel: {'Event.EventData.CommandLine|contains': whoami}, condition: sel}\n"
	countRule   = "title: Many\nname: many\nlogsource: {product: windows}\ndetection: {sel: {CommandLine|contains: whoami}, condition: sel}\n---\n" +
		"title: Five\ncorrelation: {type: event_count, rules: [many], group-by: [User], timespan: 10s, condition: {gte: 5}}\n"
)

func TestEvalReadsEventLogs(t *testing.T) {
	for _, tc := range []struct {
		name  string
		rule  string
		files map[string]string
		stdin string
		args  []string
		code  int
		lines int // of stdout
		err   []string
	}{
		{"records", recordRule, map[string]string{"x.evtx": eventLog(3)}, "", []string{"-e", "@x.evtx"}, 0, 3, []string{"Loaded 1 detection rule.\nProcessed 3 EVTX records, 3 matches.\n"}},
		{"one record", recordRule, map[string]string{"x.evtx": eventLog(1)}, "", []string{"-e", "@x.evtx"}, 0, 1, []string{"Processed 1 EVTX record, 1 match.\n"}},
		{"records over several chunks", recordRule, map[string]string{"x.evtx": eventLog(1000)}, "", []string{"-e", "@x.evtx"}, 0, 1000, []string{"Processed 1000 EVTX records, 1000 matches.\n"}},
		{"an ending in capitals", recordRule, map[string]string{"X.EvTX": eventLog(2)}, "", []string{"-e", "@X.EvTX"}, 0, 2, nil},
		{"a log without records", recordRule, map[string]string{"x.evtx": eventLog(0)}, "", []string{"-e", "@x.evtx"}, 0, 0, []string{"Processed 0 EVTX records, 0 matches.\n"}},
		{"whatever the format is", recordRule, map[string]string{"x.evtx": eventLog(2)}, "", []string{"-e", "@x.evtx", "--input-format", "cef"}, 0, 2, nil},
		{"several logs", recordRule, map[string]string{"x.evtx": eventLog(2), "y.evtx": eventLog(3)}, "", []string{"-e", "@x.evtx", "-e", "@y.evtx"}, 0, 5, []string{"Processed 5 EVTX records, 5 matches.\n"}},
		{"a log beside other events", recordRule, map[string]string{"x.evtx": eventLog(2)}, `{"Event":{"System":{"EventID":1},"EventData":{"CommandLine":"whoami"}}}`, []string{"-e", "{}", "-e", "@x.evtx", "-e", "@-"}, 0, 3, []string{"Processed 2 EVTX records, 4 events in all, 3 matches.\n"}},
		{"a result that must not be", recordRule, map[string]string{"x.evtx": eventLog(1)}, "", []string{"-e", "@x.evtx", "--fail-on-detection"}, 1, 1, nil},
		{"the fields by their own names", goodRule, map[string]string{"x.evtx": eventLog(2)}, "", []string{"-e", "@x.evtx", "-p", "windows_evtx"}, 0, 2, nil},
		{"fields that the rules do not look at", goodRule, map[string]string{"x.evtx": eventLog(2)}, "", []string{"-e", "@x.evtx"}, 0, 0, []string{"add -p windows_evtx"}},
		{"correlations by the time of the records", countRule, map[string]string{"x.evtx": eventLog(6)}, "", []string{"-e", "@x.evtx", "-p", "windows_evtx", "--no-detections", "--timestamp-field", "Event.System.TimeCreated.#attributes.SystemTime"}, 0, 2, []string{"Processed 6 EVTX records, 0 detection matches, 2 correlation matches.\n"}},

		{"an event filter", goodRule, map[string]string{"x.evtx": eventLog(3)}, "", []string{"-e", "@x.evtx", "--jq", ".Event.EventData"}, 0, 3, []string{"Processed 3 EVTX records, 3 matches.\n"}},
		{"an event filter that makes several of one", goodRule, map[string]string{"x.evtx": eventLog(3)}, "", []string{"-e", "@x.evtx", "--jq", ".Event.EventData, 1"}, 0, 3, []string{"Processed 3 EVTX records, 6 events in all, 3 matches.\n"}},
		{"an event filter that leaves some out", goodRule, map[string]string{"x.evtx": eventLog(3)}, "", []string{"-e", "@x.evtx", "--jsonpath", "$.Event[?@.CommandLine == 'whoami 1']"}, 0, 1, []string{"Processed 3 EVTX records, 1 event in all, 1 match.\n"}},
		{"an event filter and routing", goodRule + "---\n" + linuxRecord, map[string]string{"x.evtx": eventLog(3)}, "", []string{"-e", "@x.evtx", "--jq", ".Event.EventData", "--logsource-routing"}, 0, 3, []string{"Log sources: 3 rule checks skipped; 0 events have no log source."}},

		{"a file that is missing", recordRule, nil, "", []string{"-e", "@x.evtx"}, 2, 0, []string{"read events: open x.evtx: no such file or directory"}},
		{"a directory", recordRule, map[string]string{"x.evtx/y": ""}, "", []string{"-e", "@x.evtx"}, 2, 0, []string{"x.evtx is a directory"}},
		{"an empty file", recordRule, map[string]string{"x.evtx": ""}, "", []string{"-e", "@x.evtx"}, 2, 0, []string{"read events: x.evtx: not a file of Windows event records: it has 0 bytes, fewer than its head"}},
		{"another file", recordRule, map[string]string{"x.evtx": strings.Repeat(hit, 500)}, "", []string{"-e", "@x.evtx"}, 2, 0, []string{"x.evtx: not a file of Windows event records: it does not begin with ElfFile"}},
		{"a log on stdin", recordRule, nil, eventLog(1), nil, 2, 0, []string{"read events: stdin: it is a file of Windows event records, which is read from a file whose name ends in .evtx"}},

		{"a record that cannot be read", recordRule, map[string]string{"x.evtx": damaged(eventLog(5), 2)}, "", []string{"-e", "@x.evtx"}, 0, 4, []string{
			"Error reading EVTX record 3: x.evtx: its length of 20 is too small\nProcessed 5 EVTX records, 4 matches, 1 not decoded.\n",
		}},
		{"numbers begin anew in each file", recordRule, map[string]string{"x.evtx": damaged(eventLog(3), 2), "y.evtx": damaged(eventLog(3), 0)}, "", []string{"-e", "@x.evtx", "-e", "@y.evtx"}, 0, 4, []string{
			"Error reading EVTX record 3: x.evtx: ", "Error reading EVTX record 1: y.evtx: ", "Processed 6 EVTX records, 4 matches, 2 not decoded.\n",
		}},
		{"no record that can be read", recordRule, map[string]string{"x.evtx": damaged(eventLog(3), 0, 1, 2)}, "", []string{"-e", "@x.evtx"}, 0, 0, []string{
			"Error reading EVTX record 1: ", "Error reading EVTX record 2: ", "Error reading EVTX record 3: ", "Processed 3 EVTX records, 0 matches, 3 not decoded.\n",
		}},
		{"such records are told without statistics, too", recordRule, map[string]string{"x.evtx": damaged(eventLog(2), 0)}, "", []string{"-e", "@x.evtx", "--no-stats", "-q"}, 0, 1, []string{"Error reading EVTX record 1: x.evtx: "}},

		{"routing, with the log source of the channel", recordRule + "---\n" + linuxRecord, map[string]string{"x.evtx": eventLog(2)}, "", []string{"-e", "@x.evtx", "--logsource-routing"}, 0, 2, []string{"Log sources: 2 rule checks skipped; 0 events have no log source."}},
		{"routing, where the record says nothing", bareRule + "---\n" + linuxRecord, map[string]string{"x.EVTX": bare()}, "", []string{"-e", "@x.EVTX", "--logsource-routing"}, 0, 1, []string{"Processed 1 EVTX record, 1 match.\nLog sources: 1 rule check skipped; 0 events have no log source."}},
		{"routing, without derivation", bareRule + "---\n" + linuxRecord, map[string]string{"x.evtx": bare()}, "", []string{"-e", "@x.evtx", "--logsource-routing", "--logsource-derive", "off"}, 0, 1, []string{"Log sources: 1 rule check skipped"}},
		{"routing, with a product that is stated", linuxRecord, map[string]string{"x.evtx": bare()}, "", []string{"-e", "@x.evtx", "--logsource-routing", "--event-logsource", "product=linux"}, 0, 1, nil},
		{"routing, where events beside the log have no product", linuxRecord, map[string]string{"x.evtx": bare()}, "", []string{"-e", "@x.evtx", "-e", `{"Event":{"EventData":{"CommandLine":"whoami"}}}`, "--logsource-routing"}, 0, 1, []string{"Log sources: 1 rule check skipped; 1 event has no log source."}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			inEmptyDir(t)
			write(t, "r/a.yml", tc.rule)
			for name, text := range tc.files {
				write(t, name, text)
			}
			got := sluice(t, tc.stdin, append([]string{"engine", "eval", "-r", "r"}, tc.args...)...)
			got.wantCode(t, tc.code)
			got.wantErr(t, tc.err...)
			if n := strings.Count(got.out, "\n"); n != tc.lines {
				t.Errorf("stdout has %d lines, want %d:\n%s", n, tc.lines, got.out)
			}
			if strings.Contains(tc.name, "without statistics") && strings.Contains(got.err, "Processed") {
				t.Errorf("stderr got %q, want no summary", got.err)
			}
		})
	}
}

// What is rendered of a record is the event of the result.
func TestTheRecordIsTheEventOfAResult(t *testing.T) {
	inEmptyDir(t)
	write(t, "r/a.yml", recordRule)
	write(t, "x.evtx", eventLog(1))
	got := sluice(t, "", "engine", "eval", "-r", "r", "-e", "@x.evtx", "--include-event")
	got.wantCode(t, 0)
	want := `"event":{"Event":{"#attributes":{"xmlns":"http://schemas.microsoft.com/win/2004/08/events/event"},"System":{"Provider":{"#attributes":{"Name":"Microsoft-Windows-Sysmon","Guid":"{5770385f-c22a-43e0-bf4c-06f5698ffbd9}"}},"EventID":1,"Version":5,"Level":4,"Task":1,"Opcode":0,` +
		`"Keywords":"0x8000000000000000","TimeCreated":{"#attributes":{"SystemTime":"2026-03-10T12:00:00.000000Z"}},"EventRecordID":1,"Correlation":null,"Execution":{"#attributes":{"ProcessID":1996,"ThreadID":2044}},"Channel":"Microsoft-Windows-Sysmon/Operational","Computer":"ws01.example.org","Security":{"#attributes":{"UserID":"S-1-5-18"}}},` +
		`"EventData":{"Image":"C:\\w\\tool.exe","CommandLine":"whoami 0","User":"ann"}}}`
	if !strings.Contains(got.out, want) {
		t.Errorf("got\n%s\nwant\n%s", got.out, want)
	}
}
