package evtx

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sources/evtx/evtxtest"
)

var update = flag.Bool("update", false, "rewrite the golden files and the example")

const (
	exampleLog = "../../examples/events/windows.evtx"
	golden     = "testdata/windows.golden"
)

// example is the log that the pages read.
func example() []byte {
	l, templates := evtxtest.New(), make(evtxtest.Templates)
	at := time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)
	text := func(name, s string) evtxtest.Field {
		return evtxtest.Field{Name: name, Value: evtxtest.String(s)}
	}
	process := func(after time.Duration, pid uint32, image, line string) {
		templates.Add(l, evtxtest.Event{
			Time: at.Add(after), Provider: "Microsoft-Windows-Sysmon", Channel: "Microsoft-Windows-Sysmon/Operational", ID: 1,
			Data: []evtxtest.Field{
				text("UtcTime", at.Add(after).Format("2006-01-02 15:04:05.000")),
				{Name: "ProcessId", Value: evtxtest.Uint32(pid)},
				text("Image", image),
				text("CommandLine", line), text("CurrentDirectory", `C:\Users\ana\`), text("User", `EXAMPLE\ana`), text("IntegrityLevel", "High"),
				text("ParentImage", `C:\Windows\System32\cmd.exe`), text("ParentCommandLine", "cmd.exe"),
			},
		})
	}
	process(0, 5120, `C:\Windows\System32\whoami.exe`, "whoami")
	process(2*time.Second, 5128, `C:\Windows\System32\vssadmin.exe`, "vssadmin delete shadows /all /quiet")
	root := evtxtest.El("Event",
		evtxtest.El("System",
			evtxtest.El("Provider").With("Name", evtxtest.Text("Microsoft-Windows-Eventlog")).With("Guid", evtxtest.Text("{fc65ddd8-d6ef-4962-83d5-6e5cfe9ce148}")),
			evtxtest.El("EventID", evtxtest.Sub{Number: 1}).With("Qualifiers", evtxtest.Sub{Number: 0}),
			evtxtest.El("Level", evtxtest.Sub{Number: 2}),
			evtxtest.El("TimeCreated").With("SystemTime", evtxtest.Sub{Number: 3}),
			evtxtest.El("EventRecordID", evtxtest.Sub{Number: 4}),
			evtxtest.El("Channel", evtxtest.Text("Security")),
			evtxtest.El("Computer", evtxtest.Text("ws1.example.com")),
		),
		evtxtest.El("UserData", evtxtest.Sub{Number: 5}),
	).With("xmlns", evtxtest.Text("http://schemas.microsoft.com/win/2004/08/events/event"))
	cleared := evtxtest.El("LogFileCleared",
		evtxtest.El("SubjectUserSid", evtxtest.Sub{}), evtxtest.El("SubjectUserName", evtxtest.Sub{Number: 1}), evtxtest.El("SubjectDomainName", evtxtest.Sub{Number: 2}),
	).With("xmlns", evtxtest.Text("http://manifests.microsoft.com/win/2004/08/windows/eventlog"))
	l.Add(at.Add(time.Minute), &root, evtxtest.Uint16(0), evtxtest.Uint16(1102), evtxtest.Uint8(4), evtxtest.FileTime(at.Add(time.Minute)), evtxtest.Uint64(3),
		evtxtest.Fragment(evtxtest.Put(&cleared, evtxtest.SID(5, 21, 1332095402, 2705258134, 1427695613, 1001), evtxtest.String("ana"), evtxtest.String("EXAMPLE"))))
	return l.Bytes()
}

func TestTheExampleIsWhatItsTestWrites(t *testing.T) {
	want := example()
	lines, faults := readAll(t, want)
	text := []byte(strings.Join(lines, "\n") + "\n")
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	if *update {
		for path, b := range map[string][]byte{exampleLog: want, golden: text} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for path, b := range map[string][]byte{exampleLog: want, golden: text} {
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, b) {
			t.Errorf("%s is not what the test writes: run go test ./sources/evtx -update (%v)", path, err)
		}
	}
}

func TestAnotherReaderRendersTheExampleTheSame(t *testing.T) {
	python := other(t)
	ours, _ := readAll(t, example())
	if theirs := rendered(t, python, exampleLog); strings.Join(ours, "\n") != strings.Join(theirs, "\n") {
		t.Errorf("ours\n%s\ntheirs\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"))
	}
}
