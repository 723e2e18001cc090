package ocsf

import (
	"github.com/sluicehq/sluice/graph"
	"github.com/sluicehq/sluice/sigma/event"
)

// Form is the form of sinks that take findings. Forms of one build are equal.
type Form struct {
	product string // the metadata up to the id of the finding
}

// New returns the form of a build of that version.
func New(version string) Form {
	product := event.AppendQuoted([]byte(`,"metadata":{"product":{"name":"sluice","vendor_name":"sluice","version":`), version)
	return Form{string(product) + `},"version":"1.1.0","uid":"`}
}

// Accepts implements graph.Form.
func (Form) Accepts(graph.Payload) bool { return true }

// Native implements graph.Form.
func (Form) Native() bool { return false }

// IncidentRecord is a record that is written as an incident.
type IncidentRecord interface {
	graph.Record
	OCSFIncident() Incident
}

// RiskIncidentRecord is a record that is written as a risk incident.
type RiskIncidentRecord interface {
	graph.Record
	OCSFRiskIncident() RiskIncident
}

// Append appends the finding about p, the native line of a record that is none.
func (f Form) Append(dst []byte, p graph.Payload, m *graph.Message) ([]byte, error) {
	switch r := p.Record.(type) {
	case nil:
		if d := p.Result.Detection; d != nil {
			return f.appendDetection(dst, p.Result, m), nil
		}
		return f.appendCorrelation(dst, p.Result, m), nil
	case IncidentRecord:
		i := r.OCSFIncident()
		return f.appendIncident(dst, &i, m.Envelope), nil
	case RiskIncidentRecord:
		i := r.OCSFRiskIncident()
		return f.appendRiskIncident(dst, &i, m.Envelope), nil
	default:
		return p.AppendNative(dst), nil
	}
}
