package format

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/engine"
)

// Lines of 1 MiB that once took minutes or gigabytes.
func TestALineCostsMemoryAndTimeOfItsSize(t *testing.T) {
	const size = 1 << 20
	fill := func(n int, unit string) string { return strings.Repeat(unit, n/len(unit)) }
	var names, members strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&names, `%d="" `, i)
		fmt.Fprintf(&members, `,"%d":0`, i)
	}
	set, err := engine.Compile(nil, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := set.NewWorker()
	for _, tc := range []struct {
		name, format, line string
	}{
		{"extension of equals signs", "cef", "CEF:0|a|b|c|d|e|f|k=" + fill(size, "=")},
		{"extension without a key", "cef", "CEF:0|a|b|c|d|e|f| " + fill(size, "=")},
		{"long id of many parameters", "syslog", "<1>1 - h a p m [" + fill(size/2, "x") + " " + names.String() + "]"},
		{"many elements that are none", "syslog", "<1>1 - h a p m " + fill(size, "[a b]")},
		{"parameters beside an object of as many keys", "syslog", "<1>1 - h a p m [x " + names.String() + "] {\"a\":1" + members.String() + "}"},
		{"many pairs", "logfmt", fill(size, "a=b ")},
	} {
		d, err := NewDecoder(tc.format, "UTC", false)
		if err != nil {
			t.Fatal(err)
		}
		var ev engine.Events
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := d.Decode(w, &ev, []byte(tc.line), 0); err != nil {
			t.Fatalf("%s: %v", tc.name, err)
		}
		runtime.ReadMemStats(&after)
		if got, limit := after.TotalAlloc-before.TotalAlloc, uint64(100*len(tc.line)); got > limit {
			t.Errorf("%s: %d bytes allocated for a line of %d, want at most %d", tc.name, got, len(tc.line), limit)
		}
	}
}

func TestKeysOfExtensions(t *testing.T) {
	set, err := engine.Compile(nil, engine.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w := set.NewWorker()
	for _, tc := range []struct{ extension, want string }{
		{"a=b ==", `{"a":"b","=":""}`},
		{"a=b c=d", `{"a":"b","c":"d"}`},
		{"==x a=1", `{"=":"x","a":"1"}`},
		{"a==b c", `{"a":"=b c"}`},
		{"= =", `{}`},
	} {
		ev := new(engine.Events)
		p := w.Pairs(ev)
		cefExtension(p, []byte(tc.extension))
		p.End()
		if got := string(ev.AppendJSON(nil, 0)); got != tc.want {
			t.Errorf("%q: got %s, want %s", tc.extension, got, tc.want)
		}
	}
}
