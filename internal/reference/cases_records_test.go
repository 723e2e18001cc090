package reference_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

// probes are the values of each dimension of which a rule is made that names nothing
// else. A rule is tried unless the event has other values in its dimension.
var probes = [...]struct {
	dimension string
	values    []string
}{
	{"product", []string{"windows", "linux"}},
	{"service", []string{
		"sysmon", "security", "powershell", "powershell-classic", "servicebus-client", "microsoft-servicebus-client", "applocker",
		"security-mitigations", "application", "edr", "nobody",
	}},
	{"category", []string{
		"process_creation", "registry_event", "registry_add", "registry_delete", "registry_set", "ps_script", "ps_classic_start",
		"file_event", "dns_query", "nobody",
	}},
}

func probeRules() string {
	var b strings.Builder
	for _, p := range probes {
		for _, v := range p.values {
			fmt.Fprintf(&b, "---\ntitle: %s %s\nlogsource: {%s: %s}\ndetection: {sel: {C: x}, condition: sel}\n", p.dimension, v, p.dimension, v)
		}
	}
	return b.String()
}

// derives is an event with the values that product, service and category have, in the
// form "product / service / category", several separated by commas, - for none.
func derives(line, logsource string) caseEvent {
	ev := caseEvent{Line: `{"C":"x",` + line[1:], WithoutLogsource: logsource == "- / - / -"}
	for i, values := range strings.Split(logsource, " / ") {
		for _, v := range probes[i].values {
			if values == "-" || slices.Contains(strings.Split(values, ","), v) {
				ev.Fires = append(ev.Fires, probes[i].dimension+" "+v)
			} else {
				ev.Pruned++
			}
		}
	}
	return ev
}

func windowsCases() []situation {
	records := func(name string, events ...caseEvent) situation {
		return situation{Name: "windows record: " + name, Rules: probeRules(), Routing: &caseRouting{Windows: true}, Events: events}
	}
	const (
		nothing = "- / - / -"
		sysmon1 = `{"Channel":"Microsoft-Windows-Sysmon/Operational","EventID":1}`
	)
	out := []situation{
		records("channel and event id give service and category",
			derives(sysmon1, "windows / sysmon / process_creation"),
			derives(`{"SourceName":"Microsoft-Windows-Security-Auditing","Channel":"security","EventID":"4688"}`, "windows / security / process_creation")),
		records("rendered event records",
			derives(`{"Event":{"System":{"Channel":"Windows PowerShell","EventID":{"#attributes":{"Qualifiers":0},"#text":400},"Provider":{"#attributes":{"Name":"PowerShell"}}}}}`, "windows / powershell-classic / ps_classic_start"),
			derives(`{"Event":{"System":{"EventID":1,"Provider":{"#attributes":{"Name":"Microsoft-Windows-Sysmon"}}}}}`, "windows / sysmon / process_creation")),
		records("Winlogbeat's names, nested and flat",
			derives(`{"winlog":{"channel":"Microsoft-Windows-PowerShell/Operational","event_id":"4104"}}`, "windows / powershell / ps_script"),
			derives(`{"winlog.channel":"Microsoft-Windows-PowerShell/Operational","winlog.event_id":"4104"}`, "windows / powershell / ps_script")),
		records("the provider decides without a channel",
			derives(`{"Provider_Name":"Microsoft-Windows-Sysmon","EventID":12}`, "windows / sysmon / registry_event,registry_add,registry_delete"),
			derives(`{"Provider":{"Name":"MsiInstaller"},"EventID":11707}`, "windows / application / -")),
		records("an event id or a channel that no table lists",
			derives(`{"Channel":"Security","EventID":4624}`, "windows / security / -"),
			derives(`{"Channel":"Microsoft-Windows-Foo/Operational","EventID":7}`, "windows / - / -"),
			derives(`{"Channel":"Setup","SourceName":"Microsoft-Windows-Servicing","EventID":2}`, "windows / - / -"),
			derives(`{"Channel":"Setup","Provider_Name":"Microsoft-Windows-Sysmon","EventID":1}`, "windows / - / -"),
			derives(`{"Channel":"Security","EventID":-4688}`, "windows / security / -")),
		records("a channel with two services",
			derives(`{"Channel":"Microsoft-ServiceBus-Client/Admin","EventID":40300}`, "windows / servicebus-client,microsoft-servicebus-client / -")),
		records("channels that share a row",
			derives(`{"Channel":"Microsoft-Windows-AppLocker/Packaged app-Execution","EventID":8022}`, "windows / applocker / -"),
			derives(`{"Channel":"Microsoft-Windows-Security-Mitigations/UserMode","EventID":11}`, "windows / security-mitigations / -")),
		records("what is no Windows record",
			derives(`{"Channel":"general","EventID":1}`, nothing), derives(`{"Channel":"Security"}`, nothing),
			derives(`{"Channel":"System","EventID":"x"}`, nothing), derives(`{"Channel":"System","EventID":1.5}`, nothing),
			derives(`{"Channel":"System","EventID":true}`, nothing), derives(`{"EventID":1}`, nothing),
			derives(`{"channel":"Security","EventID":4688}`, nothing)),
		records("blanks and case do not matter",
			derives(`{"Channel":" microsoft-windows-SYSMON/operational\t","EventID":"1"}`, "windows / sysmon / process_creation"),
			derives(`{"Channel":"MICROSOFT-WINDOWS-FOO","EventID":"1"}`, "windows / - / -"),
			derives(`{"Channel":"\u0053ecurity","EventID":"\u0034688"}`, "windows / security / process_creation")),
		records("the first place that holds a text or a number counts",
			derives(`{"Channel":" ","winlog":{"channel":"Security"},"EventID":null,"winlog.event_id":4688}`, "windows / security / process_creation"),
			derives(`{"Channel":["System"],"winlog":{"channel":"Security"},"EventID":{},"winlog.event_id":4688}`, "windows / security / process_creation"),
			derives(`{"Channel":true,"Event":{"System":{"Channel":"Security"}},"EventID":4688}`, "windows / security / process_creation"),
			derives(`{"Channel":"general","winlog":{"channel":"Security"},"EventID":4688}`, nothing)),
		records("each dimension is stated or derived by itself",
			derives(`{"Channel":"Microsoft-Windows-Sysmon/Operational","EventID":1,"category":"file_event"}`, "windows / sysmon / file_event"),
			derives(`{"Channel":"Microsoft-Windows-Sysmon/Operational","EventID":1,"product":"linux"}`, "linux / - / -"),
			derives(`{"Channel":"Microsoft-Windows-Sysmon/Operational","EventID":1,"product":"Windows "}`, "windows / sysmon / process_creation")),
	}
	static := records("a static value goes before a derived one", derives(sysmon1, "windows / edr / process_creation"))
	static.Routing.Static = map[string]string{"service": "edr"}
	other := records("a static product other than windows derives nothing", derives(sysmon1, "linux / - / -"))
	other.Routing.Static = map[string]string{"product": "linux"}
	off := records("deriving is off", derives(sysmon1, nothing))
	off.Routing.Windows = false
	return append(append(out, static, other, off), windowsRuleCases()...)
}

// titled makes rules of logsources under titles, all of which match C: x.
func titled(rules ...string) string {
	var b strings.Builder
	for i := 0; i < len(rules); i += 2 {
		fmt.Fprintf(&b, "---\ntitle: %s\nlogsource: {%s}\ndetection: {sel: {C: x}, condition: sel}\n", rules[i], rules[i+1])
	}
	return b.String()
}

func windowsRuleCases() []situation {
	event := func(channel string, id, pruned int, fires ...string) caseEvent {
		return caseEvent{Line: fmt.Sprintf(`{"C":"x","Channel":"%s","EventID":%d}`, channel, id), Fires: fires, Pruned: pruned}
	}
	const sysmon, bus = "Microsoft-Windows-Sysmon/Operational", "Microsoft-ServiceBus-Client/Admin"
	registry, files := []string{}, []string{}
	for _, c := range []string{"event", "set", "add", "delete", "rename"} {
		registry = append(registry, c, "product: windows, category: registry_"+c)
	}
	for _, c := range []string{"file_delete", "file_delete_detected", "file_event"} {
		files = append(files, c, "product: windows, category: "+c)
	}
	partly := titled(
		"service", "product: windows, service: security", "category", "product: windows, category: process_creation", "product", "product: windows",
		"any product", "category: process_creation", "webserver", "category: webserver", "linux", "product: linux",
	)
	on := &caseRouting{Windows: true}
	return []situation{
		{Name: "registry records have several categories", Rules: titled(registry...), Routing: on, Events: []caseEvent{
			event(sysmon, 12, 2, "event", "add", "delete"), event(sysmon, 13, 3, "event", "set"), event(sysmon, 14, 3, "event", "rename"),
		}},
		{Name: "deleted files have several categories", Rules: titled(files...), Routing: on, Events: []caseEvent{
			event(sysmon, 23, 2, "file_delete"), event(sysmon, 26, 1, "file_delete", "file_delete_detected"),
		}},
		{Name: "rules that name some dimensions only", Rules: partly, Routing: on, Events: []caseEvent{
			event("Security", 4688, 2, "service", "category", "product", "any product"),
			event("Security", 4624, 1, "service", "category", "product", "any product", "webserver"),
			event(sysmon, 3, 5, "product"),
		}},
		{Name: "a rule that names all dimensions", Rules: titled("all", "product: windows, service: sysmon, category: process_creation"), Routing: on, Events: []caseEvent{
			event(sysmon, 1, 0, "all"), event("Security", 4688, 1),
		}},
		{Name: "either name of a service", Rules: titled("bus", "product: windows, service: microsoft-servicebus-client"), Routing: on, Events: []caseEvent{
			event(bus, 40300, 0, "bus"), event("Security", 4624, 1),
		}},
	}
}

// Windows records put together at random, in every shape: the engine says what the
// reference says.
func TestDerivedLogsourcesAreThoseOfTheReference(t *testing.T) {
	pool := map[string][]string{
		"EventID":    {`1`, `"4688"`, `"12"`, `13`, `4104`, `400`, `"x"`, `" 1 "`, `""`, `null`, `-1`, `1.0`, `[1]`, `{"#text":4688}`, `"+1"`, `"01"`},
		"Channel":    {`"Security"`, `"Microsoft-Windows-Sysmon/Operational"`, `"windows powershell"`, `"System"`, `"general"`, `" "`, `7`, `["Security"]`, `"Microsoft-Windows-Foo"`},
		"SourceName": {`"Microsoft-Windows-Sysmon"`, `"PowerShell"`, `"nginx"`, `"Microsoft-Windows-Bar"`, `""`, `false`},
	}
	pool["winlog.event_id"], pool["winlog.channel"], pool["winlog.provider_name"] = pool["EventID"], pool["Channel"], pool["SourceName"]
	pool["Provider_Name"] = pool["SourceName"]
	pool["product"], pool["category"] = []string{`"windows"`, `"linux"`, `" "`}, []string{`"dns_query"`}
	pool["Event"] = []string{
		`{"System":{"Channel":"Security","EventID":4688}}`, `{"System":{"Channel":"Windows PowerShell","EventID":{"#text":"400"}}}`,
		`[{"System":{"Channel":"Security"}},{"System":{"Channel":"System"}}]`,
		`{"System":{"Provider":{"#attributes":{"Name":"Microsoft-Windows-Sysmon"}},"EventID":12}}`,
	}
	names := slices.Sorted(maps.Keys(pool))
	rules := rulesOf(t, probeRules())
	for _, o := range []reference.Routing{{Windows: true}, {Windows: true, Static: map[string]string{"service": "edr"}}} {
		e, err := reference.New(rules, reference.Options{Routing: &o})
		if err != nil {
			t.Fatal(err)
		}
		x := newIndexed(t, rules, reference.Options{Routing: &o})
		random := rand.New(rand.NewPCG(1, 2))
		for range sigmatest.Rounds(5000) {
			line := `{"C":"x"`
			for range random.IntN(6) {
				name := names[random.IntN(len(names))]
				line += fmt.Sprintf(`,%q:%s`, name, pool[name][random.IntN(len(pool[name]))])
			}
			line += "}"
			x.compare(t, e, reference.DecodeAuto([]byte(line)), []byte(line))
			if t.Failed() {
				return
			}
		}
	}
}
