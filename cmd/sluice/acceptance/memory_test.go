package acceptance

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// memoryLimit is what the process is told, and residentLimit what it may take: less
// than a container of 512 MiB has.
const (
	memoryLimit   = "450MiB"
	residentLimit = 510 << 20
)

// peak is the most memory that the process had resident.
func (d *daemon) peak() (bytes int) { d.t.Helper(); return d.memory("VmHWM") }

// resident is the memory that the process has resident.
func (d *daemon) resident() (bytes int) { d.t.Helper(); return d.memory("VmRSS") }

func (d *daemon) memory(line string) (bytes int) {
	d.t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		d.t.Skipf("the memory of a process is not known here: %v", err)
	}
	m := regexp.MustCompile(line + `:\s+(\d+) kB`).FindSubmatch(status)
	if m == nil {
		d.t.Skip("the memory of a process is not known here")
	}
	kib, err := strconv.Atoi(string(m[1]))
	if err != nil {
		d.t.Fatal(err)
	}
	return kib << 10
}

// counted counts the results that a FIFO brings, by rule, and the bytes.
type counted struct {
	bytes   atomic.Int64
	results atomic.Int64
	byRule  map[string]int
}

func count(t *testing.T, fifo string) *counted {
	t.Helper()
	c := &counted{byRule: make(map[string]int)}
	f, err := os.OpenFile(fifo, os.O_RDWR, 0) // also a writer, so that the end never comes
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	go func() {
		in := bufio.NewReaderSize(f, 1<<20)
		var head []byte // of the line at hand
		for {
			part, err := in.ReadSlice('\n')
			c.bytes.Add(int64(len(part)))
			if len(head) < 100 {
				head = append(head, part[:min(len(part), 100)]...)
			}
			switch {
			case err == nil:
				title, _, _ := bytes.Cut(bytes.TrimPrefix(head, []byte(`{"rule_title":"`)), []byte(`"`))
				c.byRule[string(title)]++
				c.results.Add(1)
				head = head[:0]
			case errors.Is(err, bufio.ErrBufferFull):
			default:
				return
			}
		}
	}()
	return c
}

func TestEventsThatMeetHundredsOfRulesFitIntoMemory(t *testing.T) {
	watched := len(buildFlags) > 0 // for races, which takes time and memory
	for _, tc := range []struct {
		name          string
		rules, events int
		event         string
	}{
		{"long values", 200, 100, `{"C":"evil ` + strings.Repeat("x", 200_000) + `"}`},
		{"many values", 200, 100, `{"C":["evil"` + strings.Repeat(`,"x"`, 20_000) + `]}`},
		{"values of the largest size", 10, 100, `{"C":"evil ` + strings.Repeat("x", 1_000_000) + `"}`},
		{"as many values as an event holds", 3, 100, `{"C":["evil"` + strings.Repeat(",1", 500_000) + `]}`},
		{"short events", 500, 2000, `{"C":"evil ` + strings.Repeat("x", 500) + `"}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if testing.Short() || watched {
				tc.events /= 10
			}
			dir := t.TempDir()
			var rules strings.Builder
			for i := range tc.rules {
				rules.WriteString(rule(fmt.Sprintf("R%d", i), "evil") + "---\n")
			}
			write(t, dir, "rules/a.yml", strings.TrimSuffix(rules.String(), "---\n"))
			fifo := filepath.Join(dir, "out")
			if err := syscall.Mkfifo(fifo, 0o600); err != nil {
				t.Fatal(err)
			}
			out := count(t, fifo)
			t.Setenv("GOMEMLIMIT", memoryLimit)
			d := start(t, "-r", filepath.Join(dir, "rules"), "--input", "http", "--output", "file://"+fifo,
				"--include-event", "--match-detail", "summary", "--drain-timeout", "60")
			const body = 19 << 20 // what a request holds, nearly
			for sent := 0; sent < tc.events; {
				n := min(tc.events-sent, body/(len(tc.event)+1))
				if a := d.do("POST", "/api/v1/events", strings.Repeat(tc.event+"\n", n)); a.status != 200 {
					t.Fatalf("push: %d %s, want 200", a.status, a.body)
				}
				sent += n
			}
			want := int64(tc.events * tc.rules)
			d.await("results", func() bool { return out.results.Load() >= want })
			if peak := d.peak(); peak > residentLimit && !watched {
				t.Errorf("the daemon took %d MiB, want at most %d", peak>>20, residentLimit>>20)
			} else {
				t.Logf("%d results of %d MiB, peak %d MiB", out.results.Load(), out.bytes.Load()>>20, peak>>20)
			}
			d.stop()
			if got := out.results.Load(); got != want || len(out.byRule) != tc.rules {
				t.Errorf("%d results of %d rules, want %d of %d", got, len(out.byRule), want, tc.rules)
			}
			for title, n := range out.byRule {
				if n != tc.events {
					t.Errorf("%d results of %s, want one of each of %d events", n, title, tc.events)
				}
			}
		})
	}
}
