package reference_test

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/internal/reference"
	"github.com/sluicehq/sluice/internal/sigmatest"
)

// record is a rendered Windows event record.
type record struct {
	Event struct {
		System struct {
			EventID  json.RawMessage
			Channel  string
			Computer string
			Provider struct {
				Attributes struct{ Name string } `json:"#attributes"`
			}
		}
		EventData map[string]any
	}
}

// ecsDocument is under construction: what a Sysmon record becomes when a shipper
// lays it out by the Elastic Common Schema. Names are those of the schema's own
// field reference (process, file, registry, user, source, destination, event),
// and winlog.* for what the schema has no field for.
type ecsDocument struct {
	root map[string]any
	data map[string]any // what is left of the event data
}

// put sets a dotted name as nested objects.
func (d *ecsDocument) put(name string, v any) {
	at := d.root
	keys := strings.Split(name, ".")
	for _, k := range keys[:len(keys)-1] {
		below, ok := at[k].(map[string]any)
		if !ok {
			below = map[string]any{}
			at[k] = below
		}
		at = below
	}
	at[keys[len(keys)-1]] = v
}

// take removes an element of the event data; shippers drop empty ones and "-".
func (d *ecsDocument) take(name string) (string, bool) {
	v, ok := d.data[name]
	if !ok {
		return "", false
	}
	delete(d.data, name)
	var text string
	switch v := v.(type) {
	case string:
		text = v
	case json.Number:
		text = v.String()
	}
	return text, text != "" && text != "-"
}

func (d *ecsDocument) move(from, to string) {
	if v, ok := d.take(from); ok {
		d.put(to, v)
	}
}

// process fills one process object.
func (d *ecsDocument) process(at, prefix string) {
	if v, ok := d.take(prefix + "Image"); ok {
		d.put(at+".executable", v)
		d.put(at+".name", path.Base(strings.ReplaceAll(v, `\`, "/")))
	}
	if v, ok := d.take(prefix + "ProcessId"); ok {
		pid, err := strconv.Atoi(v)
		if err == nil {
			d.put(at+".pid", pid)
		}
	}
	for _, guid := range []string{"ProcessGuid", "ProcessGUID"} {
		d.move(prefix+guid, at+".entity_id")
	}
	d.move(prefix+"CommandLine", at+".command_line")
}

func (d *ecsDocument) user(from string) {
	v, ok := d.take(from)
	if !ok {
		return
	}
	if domain, name, ok := strings.Cut(v, `\`); ok {
		d.put("user.domain", domain)
		v = name
	}
	d.put("user.name", v)
}

// peFields are the names of the version resource below pe.
var peFields = map[string]string{
	"Company": "company", "Description": "description", "FileVersion": "file_version",
	"Product": "product", "OriginalFileName": "original_file_name",
}

func (d *ecsDocument) pe(at string) {
	for from, to := range peFields {
		d.move(from, at+".pe."+to)
	}
}

// hashes splits the combined element below an object and keeps it as received.
func (d *ecsDocument) hashes(at string) {
	text, ok := d.data["Hashes"].(string)
	if !ok {
		return
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(pair, "=")
		if name == "IMPHASH" {
			d.put(at+".pe.imphash", strings.ToLower(value))
			continue
		}
		d.put(at+".hash."+strings.ToLower(name), strings.ToLower(value))
	}
}

// ecsOf lays a Sysmon record out. ok is false for other records.
func ecsOf(t *testing.T, line []byte) (doc []byte, ok bool) {
	t.Helper()
	var r record
	dec := json.NewDecoder(strings.NewReader(string(line)))
	dec.UseNumber()
	if err := dec.Decode(&r); err != nil {
		t.Fatal(err)
	}
	d := &ecsDocument{root: map[string]any{}, data: maps.Clone(r.Event.EventData)}
	id := strings.Trim(string(r.Event.System.EventID), `"`)
	if r.Event.System.Provider.Attributes.Name != "Microsoft-Windows-Sysmon" || !d.sysmon(id) {
		return nil, false
	}
	d.put("event.code", id)
	d.put("event.provider", r.Event.System.Provider.Attributes.Name)
	d.put("winlog.channel", r.Event.System.Channel)
	d.put("winlog.computer_name", r.Event.System.Computer)
	d.put("winlog.provider_name", r.Event.System.Provider.Attributes.Name)
	d.put("winlog.event_id", id)
	d.move("UtcTime", "@timestamp")
	if len(d.data) > 0 {
		d.put("winlog.event_data", d.data)
	}
	doc, err := json.Marshal(d.root)
	if err != nil {
		t.Fatal(err)
	}
	return doc, true
}

// sysmon handles what an event of this id says.
func (d *ecsDocument) sysmon(id string) bool {
	switch id {
	case "1": // process creation
		d.hashes("process")
		d.pe("process")
		d.process("process.parent", "Parent")
		d.move("CurrentDirectory", "process.working_directory")
	case "7": // image load
		d.hashes("file")
		d.pe("file")
		if v, ok := d.take("ImageLoaded"); ok {
			d.put("file.path", v)
			d.put("file.name", path.Base(strings.ReplaceAll(v, `\`, "/")))
		}
		if v, ok := d.take("Signed"); ok {
			d.put("file.code_signature.signed", v == "true")
		}
		d.move("Signature", "file.code_signature.subject_name")
		d.move("SignatureStatus", "file.code_signature.status")
	case "10": // process access
		d.process("process", "Source")
	case "11": // file create
		if v, ok := d.take("TargetFilename"); ok {
			d.put("file.path", v)
			d.put("file.name", path.Base(strings.ReplaceAll(v, `\`, "/")))
		}
	case "12", "13", "14": // registry
		if v, ok := d.take("TargetObject"); ok {
			hive, key, _ := strings.Cut(v, `\`)
			d.put("registry.path", v)
			d.put("registry.hive", hive)
			d.put("registry.key", key)
		}
	default:
		return false
	}
	d.process("process", "")
	d.user("User")
	return true
}

// ecsCategories are those of windows rules that ecs_windows knows.
var ecsCategories = []string{
	"process_creation", "network_connection", "image_load", "file_event", "registry_event",
	"dns_query", "pipe_created", "driver_load", "create_remote_thread", "process_access",
}

// Rules through ecs_windows evaluate the same records in the layout of the Elastic
// Common Schema. The layout is written from the schema, not from the mapping.
func TestRulesThroughEcsWindowsFireOnThePublishedRecordsInECS(t *testing.T) {
	rules := corpusThrough(t, "ecs_windows")
	e, err := reference.New(rules, reference.Options{})
	if err != nil {
		t.Fatal(err)
	}
	indexed := newIndexed(t, rules, reference.Options{})
	indexes := map[string]int{}
	for i, r := range rules {
		indexes[r.ID] = i
	}
	unknown := map[string]int{}
	judged := 0
	for _, c := range sigmatest.Regressions(t) {
		index := indexes[c.RuleID]
		l := rules[index].Logsource
		if l.Product != "windows" || !slices.Contains(ecsCategories, l.Category) {
			unknown[strings.Trim(l.Product+"/"+l.Category+"/"+l.Service, "/")]++
			continue
		}
		judged++
		fires := false
		for _, line := range compactObjects(t, c.Raw) {
			doc, ok := ecsOf(t, line)
			if !ok {
				continue
			}
			ev := reference.DecodeAuto(doc)
			fires = fires || slices.Contains(e.Fires(ev), index)
			indexed.compare(t, e, ev, doc)
		}
		if !fires {
			t.Errorf("%s: rule %s does not fire on %s in ECS", c.Case, rules[index].Title, c.File)
		}
	}
	for _, category := range slices.Sorted(maps.Keys(unknown)) {
		t.Logf("ecs_windows does not know %s: %d cases", category, unknown[category])
	}
	if judged < 60 {
		t.Errorf("%d cases judged, want at least 60", judged)
	}
}
