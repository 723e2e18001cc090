package sources

import (
	"bytes"
	"encoding/json"

	"github.com/sluicehq/sluice/sources/fetch"
)

// ControlSubject is where clients of a NATS server ask for fetches.
const ControlSubject = "svc.control.resolve"

// subscribe hands the messages of a source on, until the end.
func (s *Stage) subscribe(e *entry) {
	err := s.o.Fetcher.Subscribe(s.ctx, e.Declaration, func(came fetch.Pushed) {
		p := pushed{entry: e, Pushed: came}
		if came.JSON != nil {
			p.id = identityOf(came.JSON)
		}
		s.tell(p)
	})
	if err != nil && s.ctx.Err() == nil {
		s.log.Error("the subscription of a source has ended: its value is fetched by requests alone", "source", e.ID, "err", err)
	}
}

// control takes requests from the control subject, until the end.
func (s *Stage) control() {
	err := s.o.Fetcher.Control(s.ctx, s.o.ControlServer, ControlSubject, func(payload []byte) {
		s.tell(controlled{s.named(payload)})
	})
	if err != nil && s.ctx.Err() == nil {
		s.log.Error("the control subject is not listened to", "subject", ControlSubject, "err", err)
	}
}

// named is the source that a payload names, nil for all of them.
func (s *Stage) named(payload []byte) *entry {
	text := bytes.TrimSpace(payload)
	if e := s.book.byID[string(text)]; e != nil {
		return e
	}
	var one struct {
		SourceID string `json:"source_id"`
	}
	if json.Unmarshal(text, &one) != nil {
		return nil
	}
	return s.book.byID[one.SourceID]
}
