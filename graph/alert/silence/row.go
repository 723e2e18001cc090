package silence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/sluicehq/sluice/graph/selector"
)

// row is how a silence of the API is stored.
type row struct {
	ID        string      `json:"id"`
	Matchers  []condition `json:"matchers"`
	StartsAt  *int64      `json:"starts_at,omitempty"` // Unix seconds
	EndsAt    *int64      `json:"ends_at,omitempty"`
	CreatedBy string      `json:"created_by,omitempty"`
	Comment   string      `json:"comment,omitempty"`
	Created   int64       `json:"created"`
}

// condition is a selector.Condition that may have an empty selector, which is told when it
// is compiled.
type condition selector.Condition

// Row is the silence as it is stored: JSON, with times in Unix seconds.
func (s *Silence) Row() []byte {
	r := row{ID: s.ID, CreatedBy: s.CreatedBy, Comment: s.Comment, Created: s.Created}
	for _, c := range s.Matchers {
		r.Matchers = append(r.Matchers, condition(c))
	}
	if s.HasStart {
		r.StartsAt = &s.StartsAt
	}
	if s.HasEnd {
		r.EndsAt = &s.EndsAt
	}
	data, err := json.Marshal(r)
	if err != nil {
		panic(err) // texts and integers are always written
	}
	return data
}

// FromRow reads what Row wrote, as a silence of the API. The error tells what of it cannot
// be used, such as an expression that is refused by now.
func FromRow(data []byte) (*Silence, error) {
	var r row
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("a stored silence cannot be read: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("a stored silence cannot be read: something stands behind it")
	}
	if r.ID == "" {
		return nil, errors.New("a stored silence cannot be read: it has no id")
	}
	s := &Silence{ID: r.ID, CreatedBy: r.CreatedBy, Comment: r.Comment, Origin: API, Created: r.Created}
	for _, at := range []*int64{r.StartsAt, r.EndsAt} {
		if at != nil && (*at < firstSecond || *at > lastSecond) {
			return nil, fmt.Errorf("the stored silence '%s' cannot be used: the second %d lies outside the years 0000 to 9999", r.ID, *at)
		}
	}
	if r.StartsAt != nil {
		s.StartsAt, s.HasStart = *r.StartsAt, true
	}
	if r.EndsAt != nil {
		s.EndsAt, s.HasEnd = *r.EndsAt, true
	}
	conditions := make([]selector.Condition, len(r.Matchers))
	for i, c := range r.Matchers {
		conditions[i] = selector.Condition(c)
	}
	if err := s.compile(conditions); err != nil {
		return nil, fmt.Errorf("the stored silence '%s' cannot be used: %w", r.ID, err)
	}
	if s.ends() {
		return nil, fmt.Errorf("the stored silence '%s' cannot be used: it ends before it starts", r.ID)
	}
	return s, nil
}
