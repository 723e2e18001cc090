package ocsf

import (
	"encoding/hex"
	"strconv"

	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// activity says what a finding tells of.
type activity uint8

const (
	created activity = iota
	updated
	closed
)

// openings are what findings begin with, up to the severity.
var openings = [...]string{
	created: opening("1", "Create"),
	updated: opening("2", "Update"),
	closed:  opening("3", "Close"),
}

func opening(id, name string) string {
	return `{"action_id":0,"action":"Unknown","activity_id":` + id + `,"activity_name":"` + name +
		`","category_uid":2,"category_name":"Findings","class_uid":2004,"class_name":"Detection Finding","type_uid":20040` + id +
		`,"type_name":"Detection Finding: ` + name + `"`
}

// severities are the members of the severity, by level.
var severities = [...]string{
	ast.LevelNone:          `,"severity_id":0,"severity":"Unknown"`,
	ast.LevelInformational: `,"severity_id":1,"severity":"Informational"`,
	ast.LevelLow:           `,"severity_id":2,"severity":"Low"`,
	ast.LevelMedium:        `,"severity_id":3,"severity":"Medium"`,
	ast.LevelHigh:          `,"severity_id":4,"severity":"High"`,
	ast.LevelCritical:      `,"severity_id":5,"severity":"Critical"`,
}

const (
	statusNew      = `,"status_id":1,"status":"New"`
	statusResolved = `,"status_id":4,"status":"Resolved"`
)

// head is what the beginnings of findings differ in.
type head struct {
	activity activity
	level    ast.Level
	resolved bool
	seconds  int64 // Unix time
}

// append appends the members up to the time.
func (h *head) append(dst []byte) []byte {
	dst = append(append(dst, openings[h.activity]...), severities[h.level]...)
	if h.resolved {
		dst = append(dst, statusResolved...)
	} else {
		dst = append(dst, statusNew...)
	}
	return append(appendMillis(append(dst, `,"time":`...), h.seconds), `,"timezone_offset":0`...)
}

// appendMillis appends Unix seconds as milliseconds.
func appendMillis(dst []byte, seconds int64) []byte {
	dst = strconv.AppendInt(dst, seconds, 10)
	if seconds == 0 {
		return dst
	}
	return append(dst, "000"...)
}

// appendMessage appends the message and returns the title as a JSON string, too.
func appendMessage(dst []byte, title string) (_, quoted []byte) {
	dst = append(dst, `,"message":`...)
	at := len(dst)
	dst = event.AppendQuoted(dst, title)
	return dst, dst[at:]
}

// appendResultID appends an id of a result, of which there are several.
func appendResultID(dst []byte, m *graph.Message, number byte) []byte {
	dst = append(hex.AppendEncode(append(dst, "msg_"...), m.ID[:]), '_')
	for least := 1000; m.Index < least && least > 1; least /= 10 {
		dst = append(dst, '0')
	}
	return append(strconv.AppendInt(dst, int64(m.Index), 10), '_', number)
}

// ruleAnalytic is what an analytic begins with, up to its name.
const ruleAnalytic = `{"type_id":1,"type":"Rule","name":`

// appendAnalytics appends related_analytics with a comma in front, nothing without names.
func appendAnalytics(dst []byte, names []string) []byte {
	for i, name := range names {
		if i == 0 {
			dst = append(dst, `,"related_analytics":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = append(event.AppendQuoted(append(dst, ruleAnalytic...), name), '}')
	}
	if len(names) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// resource is something that a finding is about.
type resource struct{ kind, name string }

// appendResources appends resources with a comma in front, nothing without any.
func appendResources(dst []byte, all []resource) []byte {
	for i, r := range all {
		if i == 0 {
			dst = append(dst, `,"resources":[`...)
		} else {
			dst = append(dst, ',')
		}
		dst = event.AppendQuoted(append(dst, `{"type":`...), r.kind)
		dst = append(event.AppendQuoted(append(dst, `,"name":`...), r.name), '}')
	}
	if len(all) > 0 {
		dst = append(dst, ']')
	}
	return dst
}

// kindUser is the kind of resource that acts.
const kindUser = "user"

// appendActor appends the actor with a comma in front: the first user of resources.
func appendActor(dst []byte, all []resource) []byte {
	for _, r := range all {
		if r.kind == kindUser {
			dst = event.AppendQuoted(append(dst, `,"actor":{"user":{"name":`...), r.name)
			return append(dst, "}}"...)
		}
	}
	return dst
}
