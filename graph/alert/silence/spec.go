package silence

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sluicehq/sluice/graph/selector"
	"github.com/sluicehq/sluice/internal/suggest"
)

// Spec is a silence as it is written: in the body of a request, and in the configuration,
// which package strict reads. Times are RFC 3339 texts, empty for none. Only the
// configuration gives an id.
type Spec struct {
	ID        string               `json:"-" yaml:"id"`
	Matchers  []selector.Condition `json:"matchers" yaml:"matchers"`
	StartsAt  string               `json:"starts_at,omitempty" yaml:"starts_at"`
	EndsAt    string               `json:"ends_at,omitempty" yaml:"ends_at"`
	CreatedBy string               `json:"created_by,omitempty" yaml:"created_by"`
	Comment   string               `json:"comment,omitempty" yaml:"comment"`
}

var keys = []string{"matchers", "starts_at", "ends_at", "created_by", "comment"}

// Parse reads the body of a request. A member that is null is absent; any other that
// cannot be read is an error. Compile checks what the members mean.
func Parse(body []byte) (Spec, error) {
	s, err := parse(body)
	if err != nil {
		return Spec{}, fmt.Errorf("invalid silence JSON: %w", err)
	}
	for _, at := range []struct{ key, text string }{{"starts_at", s.StartsAt}, {"ends_at", s.EndsAt}} {
		if s.given[at.key] && at.text == "" {
			return Spec{}, notATime(at.key, at.text)
		}
		if _, _, err := readTime(at.key, at.text); err != nil {
			return Spec{}, err
		}
	}
	return s.Spec, nil
}

// parsed is a Spec in which a time may be given and empty.
type parsed struct {
	Spec
	given map[string]bool // true unless it is null
}

func parse(body []byte) (s parsed, err error) {
	if !utf8.Valid(body) {
		return s, errors.New("the body is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return s, errors.New("the body is not a JSON object")
	}
	s.given = make(map[string]bool)
	for d.More() {
		var value json.RawMessage
		key, err := d.Token()
		if err == nil {
			err = d.Decode(&value)
		}
		if err != nil {
			return s, fmt.Errorf("the body is not a JSON object: %w", err)
		}
		if err := s.member(key.(string), value); err != nil {
			return s, err
		}
	}
	if _, err := d.Token(); err != nil {
		return s, fmt.Errorf("the body is not a JSON object: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return s, errors.New("the body is more than one JSON object")
	}
	return s, nil
}

// member reads one member of the body.
func (s *parsed) member(key string, value json.RawMessage) error {
	texts := map[string]*string{"starts_at": &s.StartsAt, "ends_at": &s.EndsAt, "created_by": &s.CreatedBy, "comment": &s.Comment}
	text := texts[key]
	switch {
	case key == "id":
		return errors.New("unknown key 'id': the service gives the id")
	case text == nil && key != "matchers":
		return fmt.Errorf("unknown key '%s' (%s)%s", key, strings.Join(keys, ", "), suggest.Behind(key, keys))
	}
	if _, again := s.given[key]; again {
		return fmt.Errorf("the key '%s' stands there twice", key)
	}
	s.given[key] = string(value) != "null"
	switch {
	case !s.given[key]:
	case text == nil:
		return s.matchers(value)
	case json.Unmarshal(value, text) != nil:
		return fmt.Errorf("'%s' must be a string", key)
	}
	return nil
}

func (s *parsed) matchers(value json.RawMessage) error {
	var all []json.RawMessage
	if json.Unmarshal(value, &all) != nil {
		return errors.New("'matchers' must be a list of {selector, op, value}")
	}
	for i, one := range all {
		var c selector.Condition
		if err := c.UnmarshalJSON(one); err != nil {
			return fmt.Errorf("matchers[%d]: %w", i, err)
		}
		switch c.Op {
		case selector.Equal, selector.NotEqual, selector.Like, selector.NotLike:
		default:
			return fmt.Errorf("matchers[%d]: unknown op '%s' (%s, %s, %s, %s)", i, c.Op, selector.Equal, selector.NotEqual, selector.Like, selector.NotLike)
		}
		s.Matchers = append(s.Matchers, c)
	}
	return nil
}

// readTime reads an RFC 3339 time in whole seconds; an empty text is none.
func readTime(key, text string) (at int64, given bool, err error) {
	if text == "" {
		return 0, false, nil
	}
	var t time.Time
	if err := t.UnmarshalText([]byte(text)); err != nil {
		return 0, false, notATime(key, text)
	}
	if at := t.Unix(); at < firstSecond || at > lastSecond {
		return 0, false, fmt.Errorf("%s '%s' lies outside the years 0000 to 9999 of UTC", key, text)
	}
	return t.Unix(), true, nil
}

func notATime(key, text string) error {
	return fmt.Errorf("%s '%s' is not a time of RFC 3339, such as 2026-03-02T08:15:00Z", key, text)
}

// The times that have a text, in Unix seconds.
const (
	firstSecond = -62167219200 // 0000-01-01T00:00:00Z
	lastSecond  = 253402300799 // 9999-12-31T23:59:59Z
)
