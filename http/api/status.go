package api

import (
	"bytes"
	"encoding/json"
	"net/http"

	"github.com/sluicehq/sluice/actors"
)

var statusRoutes = []route{{pattern: "/api/v1/status", endpoints: get("status:read", (*Resources).getStatus)}}

// Status tells the totals of the process, in the order of the answer, without
// asking an actor.
type Status interface {
	Status() []actors.Member
}

func (res *Resources) getStatus(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, append(members{{Name: "status", Value: "running"}}, res.Status.Status()...))
}

// members are an object whose members keep their order.
type members []actors.Member

// MarshalJSON encodes the object.
func (m members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	before := byte('{')
	for _, x := range m {
		b.WriteByte(before)
		if err := enc.Encode(x.Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(x.Value); err != nil {
			return nil, err
		}
		before = ','
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
