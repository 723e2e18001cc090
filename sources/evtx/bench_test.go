package evtx

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/sluicehq/sluice/sources"
	"github.com/sluicehq/sluice/sources/evtx/evtxtest"
)

// logon is an event with the fields that a start of a process has in the logs of Sysmon.
func logon(i int) evtxtest.Event {
	at := when.Add(time.Duration(i) * time.Millisecond)
	text := func(name, s string) evtxtest.Field {
		return evtxtest.Field{Name: name, Value: evtxtest.String(s)}
	}
	id := evtxtest.GUID("\x25\x96\x84\x54\x78\x54\x94\x49\xa5\xba\x3e\x3b\x03\x28\xc3" + string(rune(i%128)))
	return evtxtest.Event{
		Time: at, Provider: "Microsoft-Windows-Sysmon", Channel: "Microsoft-Windows-Sysmon/Operational", ID: 1,
		Data: []evtxtest.Field{
			text("RuleName", "-"), text("UtcTime", at.Format("2006-01-02 15:04:05.000")),
			{Name: "ProcessGuid", Value: id},
			{Name: "ProcessId", Value: evtxtest.Uint32(uint32(4000 + i))},
			text("Image", `C:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`),
			text("FileVersion", "10.0.19041.546 (WinBuild.160101.0800)"), text("Description", "Windows PowerShell"),
			text("Product", "Microsoft® Windows® Operating System"), text("Company", "Microsoft Corporation"), text("OriginalFileName", "PowerShell.EXE"),
			text("CommandLine", fmt.Sprintf(`"powershell.exe" -NoProfile -Command "Get-ChildItem C:\Users\u%d"`, i)),
			text("CurrentDirectory", `C:\Users\ann\`), text("User", `WS01\ann`),
			{Name: "LogonGuid", Value: id},
			{Name: "LogonId", Value: evtxtest.Hex64(0x2a3b4)},
			{Name: "TerminalSessionId", Value: evtxtest.Uint32(1)},
			text("IntegrityLevel", "Medium"),
			text("Hashes", "MD5=7353F60B1739074EB17C5F4DDDEFE239,SHA256=DE96A6E69944335375DC1AC238336066889D9FFC7D73628EF4FE1B1B160AB32C"),
			{Name: "ParentProcessGuid", Value: id},
			{Name: "ParentProcessId", Value: evtxtest.Uint32(900)},
			text("ParentImage", `C:\Windows\explorer.exe`), text("ParentCommandLine", `C:\Windows\Explorer.EXE`), text("ParentUser", `WS01\ann`),
		},
	}
}

// BenchmarkRead counts the bytes of the file. The JSON of the same events, which is larger, is
// checked by the standard library for comparison.
func BenchmarkRead(b *testing.B) {
	l, templates := evtxtest.New(), make(evtxtest.Templates)
	for i := range 2000 {
		templates.Add(l, logon(i))
	}
	file := l.Bytes()
	lines, _ := readAll(b, file)
	b.Run("evtx", func(b *testing.B) {
		b.SetBytes(int64(len(file)))
		b.ReportAllocs()
		var run []sources.Text
		for b.Loop() {
			r, err := Open(bytes.NewReader(file), int64(len(file)))
			if err != nil {
				b.Fatal(err)
			}
			for err == nil {
				run, err = r.Next(run[:0])
				for i := range run {
					run[i].Buffer.Release(1)
				}
			}
			if err != io.EOF || r.Records() != 2000 { //nolint:errorlint // readers return it bare
				b.Fatal(err, r.Records())
			}
		}
	})
	b.Run("valid", func(b *testing.B) {
		size := 0
		for _, line := range lines {
			size += len(line)
		}
		b.SetBytes(int64(size))
		for b.Loop() {
			for _, line := range lines {
				if !json.Valid([]byte(line)) {
					b.Fatal(line)
				}
			}
		}
	})
}
