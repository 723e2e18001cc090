package ocsf

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/sluicehq/sluice/sigma/event"
)

// Enrichments that have a place in a finding.
const (
	keyScore   = "risk.score"
	keyObjects = "risk.objects"
)

// riskPrefix is what the keys begin with, as enrichments spell them.
var riskPrefix = []byte(`"risk.`)

// appendRisk appends risk_score, resources and actor of enrichments, a JSON object or
// nothing. It returns the enrichments that are left, nothing when all were taken. A value
// that is not what its place demands stays where it is.
func appendRisk(dst, enrichments []byte) (_, left []byte) {
	if !bytes.Contains(enrichments, riskPrefix) {
		return dst, unlessEmpty(enrichments)
	}
	members, ok := membersOf(enrichments)
	if !ok {
		return dst, enrichments
	}
	var all []resource
	left = append(make([]byte, 0, len(enrichments)), '{')
	for _, m := range members {
		switch m.key {
		case keyScore:
			if _, err := strconv.ParseInt(string(m.value), 10, 64); err == nil && m.only {
				dst = append(append(dst, `,"risk_score":`...), m.value...)
				continue
			}
		case keyObjects:
			objects, whole := objectsOf(m.value)
			if objects != nil && m.only {
				if all = objects; whole {
					continue
				}
			}
		}
		if len(left) > 1 {
			left = append(left, ',')
		}
		left = append(append(event.AppendQuoted(left, m.key), ':'), m.value...)
	}
	dst = appendActor(appendResources(dst, all), all)
	return dst, unlessEmpty(append(left, '}'))
}

func unlessEmpty(object []byte) []byte {
	if len(object) <= len("{}") {
		return nil
	}
	return object
}

// member is a member of an object.
type member struct {
	key   string
	value json.RawMessage
	only  bool // no other one has the key
}

// membersOf returns the members of an object in their order.
func membersOf(object []byte) (all []member, ok bool) {
	d := json.NewDecoder(bytes.NewReader(object))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	seen := make(map[string]int)
	for d.More() {
		t, err := d.Token()
		key, isKey := t.(string)
		if err != nil || !isKey {
			return nil, false
		}
		m := member{key: key, only: true}
		if err := d.Decode(&m.value); err != nil {
			return nil, false
		}
		if before, known := seen[key]; known {
			m.only, all[before].only = false, false
		}
		seen[key] = len(all)
		all = append(all, m)
	}
	_, err := d.Token()
	return all, err == nil
}

// objectsOf returns the objects of a list as resources, nil when it is empty or one of
// them has no type or value. Whole says that they have nothing else.
func objectsOf(list []byte) (all []resource, whole bool) {
	var objects []json.RawMessage
	if json.Unmarshal(list, &objects) != nil {
		return nil, false
	}
	whole = true
	for _, o := range objects {
		members, ok := membersOf(o)
		if !ok {
			return nil, false
		}
		var r resource
		var has [2]bool
		for _, m := range members {
			var text string
			isText := len(m.value) > 0 && m.value[0] == '"' && json.Unmarshal(m.value, &text) == nil
			switch {
			case m.key == "type" && isText && m.only:
				r.kind, has[0] = text, true
			case m.key == "value" && isText && m.only:
				r.name, has[1] = text, true
			default:
				whole = false
			}
		}
		if !has[0] || !has[1] {
			return nil, false
		}
		all = append(all, r)
	}
	return all, whole
}
