package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sigma/load"
	"github.com/sluicehq/sluice/sigma/result"
)

// routingRules have two products, a service and a dimension of their own.
const routingRules = `
title: L
logsource: {product: linux}
detection: {sel: {C: x}, condition: sel}
---
title: W
logsource: {product: windows, service: security, env: lab}
detection: {sel: {C: x}, condition: sel}
`

func routedWorker(t *testing.T, o *Routing) *Worker {
	t.Helper()
	s, err := Compile(load.FromBytes("r.yml", []byte(routingRules), load.Options{}).Rules, Options{Routing: o})
	if err != nil {
		t.Fatal(err)
	}
	return s.NewWorker()
}

// remembered is how many bytes of events the caches of routes hold.
func (r *router) remembered() (bytes int) {
	for k := range r.received {
		bytes += len(k)
	}
	for k := range r.routes {
		bytes += len(k)
	}
	return bytes + len(r.lastKey)
}

func TestRoutesRememberLittleOfWhatEventsSay(t *testing.T) {
	const events, size = 1000, 20_000
	fill := strings.Repeat("x", size)
	for _, tc := range []struct{ name, format string }{
		{"long products", `{"C":"x","product":"%d%s"}`},
		{"long services beside a product of a rule", `{"C":"x","product":"linux","service":"%d%s"}`},
		{"a custom dimension", `{"C":"x","env":"%d%s"}`},
		{"all dimensions", `{"C":"x","product":"%[1]d%[2]s","service":"%[1]d%[2]s","category":"%[1]d%[2]s","env":"%[1]d%[2]s"}`},
		{"texts with escapes", `{"C":"x","product":"\u0041%d%s"}`},
		{"channels", `{"C":"x","EventID":1,"Channel":"Microsoft-Windows-%d%s"}`},
		{"event ids and providers", `{"C":"x","EventID":%[1]d,"SourceName":"Microsoft-Windows-%[1]d%[2]s"}`},
		{"event ids that are none", `{"C":"x","EventID":"%[1]d-%.100[2]s","Channel":"Security"}`},
		{"numbers", `{"C":"x","product":1%d.5%.0s}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := DefaultRouting()
			o.Fields.Custom = map[string]string{"env": "env"}
			w := routedWorker(t, o)
			var ev Events
			var out result.Batch
			for i := range events {
				ev.Reset()
				if err := w.DecodeJSON(&ev, fmt.Appendf(nil, tc.format, i, fill)); err != nil {
					t.Fatal(err)
				}
				w.Evaluate(&ev, 0, 0, &out)
			}
			if got := w.router.remembered(); got > 256<<10 {
				t.Errorf("the caches hold %d bytes of %d events, want at most 256 KiB", got, events)
			}
			if got := len(w.router.routes); got > 4 {
				t.Errorf("%d routes, want one for all values that no rule has", got)
			}
		})
	}
}

func TestValuesThatNoRuleHasExcludeLikeAnyOther(t *testing.T) {
	for _, tc := range []struct {
		name, line string
		want       string
	}{
		{"two unknown products", `{"C":"x","product":"bsd"}`, ""},
		{"the other", `{"C":"x","product":"plan9"}`, ""},
		{"none", `{"C":"x"}`, "LW"},
		{"an unknown service leaves the rule without one", `{"C":"x","product":"linux","service":"` + strings.Repeat("s", 400) + `"}`, "L"},
		{"zero bytes in values are no boundary between dimensions", `{"C":"x","product":"linux\u0000","service":"security"}`, ""},
		{"nor here", `{"C":"x","product":"linux","service":"\u0000security"}`, "L"},
	} {
		w := routedWorker(t, DefaultRouting())
		var ev Events
		for range 2 { // the second time from the caches
			ev.Reset()
			if err := w.DecodeJSON(&ev, []byte(tc.line)); err != nil {
				t.Fatal(err)
			}
			var out result.Batch
			w.Evaluate(&ev, 0, 0, &out)
			got := ""
			for i := range out.Len() {
				got += out.At(i).Rule.Title
			}
			if got != tc.want {
				t.Errorf("%s: %s fires %q, want %q", tc.name, tc.line, got, tc.want)
			}
		}
	}
}

// Records of a few kinds that take turns allocate nothing.
func TestDerivingALogsourceAllocatesNothing(t *testing.T) {
	w := routedWorker(t, DefaultRouting())
	var ev Events
	for _, line := range []string{
		`{"C":"y","EventID":1,"Channel":"Microsoft-Windows-Sysmon/Operational","SourceName":"Microsoft-Windows-Sysmon"}`,
		`{"C":"y","EventID":"4688","Channel":"Security"}`,
		`{"C":"y","Event":{"System":{"EventID":{"#text":12},"Provider":{"#attributes":{"Name":"Microsoft-Windows-Sysmon"}}}}}`,
		`{"C":"y","winlog":{"channel":"System","event_id":7045,"provider_name":"Service Control Manager"}}`,
		`{"C":"y","EventID":"{5770385f-c22a-43e0-bf4c-06f5698ffbd9}","Channel":"Security"}`,
	} {
		if err := w.DecodeJSON(&ev, []byte(line)); err != nil {
			t.Fatal(err)
		}
	}
	var out result.Batch
	all := func() {
		for i := range ev.Len() {
			w.Evaluate(&ev, i, 0, &out)
		}
	}
	all()
	if n := testing.AllocsPerRun(100, all); n != 0 {
		t.Errorf("%v allocations for %d events, want none", n, ev.Len())
	}
}

func TestTheProductThatAnEventShows(t *testing.T) {
	w := routedWorker(t, nil)
	for _, tc := range []struct{ name, line, want string }{
		{"its field", `{"product":" Linux "}`, "linux"},
		{"a Windows record", `{"Channel":"Security","EventID":"4624"}`, "windows"},
		{"a rendered event record", `{"Event":{"System":{"Provider":{"#attributes":{"Name":"MsiInstaller"}},"EventID":{"#text":1}}}}`, "windows"},
		{"the field goes before the record", `{"product":"x","winlog":{"channel":"Security","event_id":1}}`, "x"},
		{"an event id alone", `{"EventID":1}`, ""},
		{"no integer", `{"Channel":"Security","EventID":"x"}`, ""},
		{"nothing", `{}`, ""},
		{"a scalar", `7`, ""},
	} {
		var ev Events
		if err := w.DecodeJSON(&ev, []byte(tc.line)); err != nil {
			t.Fatal(err)
		}
		if got := ev.Product(0); got != tc.want {
			t.Errorf("%s: %s shows %q, want %q", tc.name, tc.line, got, tc.want)
		}
	}
	var ev Events
	w.DecodePlain(&ev, []byte("plain"))
	if got := ev.Product(0); got != "" {
		t.Errorf("a plain line shows %q", got)
	}
}
