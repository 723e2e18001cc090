package silence

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/graph/selector"
	"github.com/sluicehq/sluice/sigma/event"
)

// Origin is where a silence comes from.
type Origin string

// The origins of silences.
const (
	Static Origin = "static" // the configuration
	API    Origin = "api"
)

// State is what a silence does at a time.
type State string

// The states of silences.
const (
	Pending State = "pending" // its start is to come
	Active  State = "active"  // it mutes
	Expired State = "expired" // its end is reached
)

// Silence is a silence that was read and checked. It never changes, but for the id that
// NameStatics gives; then any goroutine may use it.
type Silence struct {
	ID                 string
	Matchers           []selector.Condition // canonical
	StartsAt, EndsAt   int64                // Unix seconds
	HasStart, HasEnd   bool
	CreatedBy, Comment string
	Origin             Origin
	Created            int64 // Unix seconds

	compiled selector.Matchers
}

// Compile checks a silence and makes it usable. It has the id of s.
func Compile(s Spec, o Origin, created int64) (*Silence, error) {
	x := &Silence{ID: s.ID, CreatedBy: s.CreatedBy, Comment: s.Comment, Origin: o, Created: created}
	if err := x.compile(s.Matchers); err != nil {
		return nil, err
	}
	var err error
	if x.StartsAt, x.HasStart, err = readTime("starts_at", s.StartsAt); err != nil {
		return nil, err
	}
	if x.EndsAt, x.HasEnd, err = readTime("ends_at", s.EndsAt); err != nil {
		return nil, err
	}
	if x.ends() {
		return nil, fmt.Errorf("ends_at '%s' must be later than starts_at '%s' in whole seconds", s.EndsAt, s.StartsAt)
	}
	return x, nil
}

// ends reports whether the silence ends before it starts.
func (s *Silence) ends() bool { return s.HasStart && s.HasEnd && s.EndsAt <= s.StartsAt }

func (s *Silence) compile(conditions []selector.Condition) error {
	if len(conditions) == 0 {
		return errors.New("matchers: a silence needs at least one")
	}
	var err error
	if s.compiled, err = selector.CompileAll(conditions); err != nil {
		return inOneLine(err)
	}
	s.Matchers = make([]selector.Condition, len(conditions))
	for i := range s.compiled {
		s.Matchers[i] = s.compiled[i].Condition()
	}
	return nil
}

// inOneLine is an error that joins others, with semicolons between them.
func inOneLine(err error) error {
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) {
		return err
	}
	var all []string
	for _, one := range joined.Unwrap() {
		all = append(all, one.Error())
	}
	return errors.New(strings.Join(all, "; "))
}

// State is what the silence does at now.
func (s *Silence) State(now int64) State {
	switch {
	case s.HasStart && now < s.StartsAt:
		return Pending
	case s.HasEnd && now >= s.EndsAt:
		return Expired
	}
	return Active
}

// active is State(now) == Active.
func (s *Silence) active(now int64) bool {
	return (!s.HasStart || now >= s.StartsAt) && (!s.HasEnd || now < s.EndsAt)
}

// AppendJSON appends the silence as lists of silences show it at now.
func (s *Silence) AppendJSON(dst []byte, now int64) []byte {
	dst = event.AppendQuoted(append(dst, `{"id":`...), s.ID)
	dst = s.appendContent(append(dst, ','))
	dst = event.AppendQuoted(append(dst, `,"origin":`...), string(s.Origin))
	dst = event.AppendQuoted(append(dst, `,"state":`...), string(s.State(now)))
	return append(dst, '}')
}

// appendContent appends the members that an operator writes, without brackets.
func (s *Silence) appendContent(dst []byte) []byte {
	dst = append(dst, `"matchers":[`...)
	for i, c := range s.Matchers {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = event.AppendQuoted(append(dst, `{"selector":`...), c.Selector)
		dst = event.AppendQuoted(append(dst, `,"op":`...), c.Op)
		dst = event.AppendQuoted(append(dst, `,"value":`...), c.Value)
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if s.HasStart {
		dst = appendTime(append(dst, `,"starts_at":`...), s.StartsAt)
	}
	if s.HasEnd {
		dst = appendTime(append(dst, `,"ends_at":`...), s.EndsAt)
	}
	if s.CreatedBy != "" {
		dst = event.AppendQuoted(append(dst, `,"created_by":`...), s.CreatedBy)
	}
	if s.Comment != "" {
		dst = event.AppendQuoted(append(dst, `,"comment":`...), s.Comment)
	}
	return dst
}

// appendTime appends a time in UTC, in quotes.
func appendTime(dst []byte, at int64) []byte {
	return time.Unix(at, 0).UTC().AppendFormat(dst, `"2006-01-02T15:04:05Z"`)
}

// SameIDError is the error of two silences of a configuration that have one id.
type SameIDError struct {
	ID            string
	First, Second int // places in the configuration, from 0
}

// Error names the silences by their places.
func (e *SameIDError) Error() string {
	return fmt.Sprintf("silences[%d] has the id '%s' of silences[%d]: give each an id of its own", e.Second, e.ID, e.First)
}

// NameStatics gives an id to each silence of a configuration that has none. The id is made
// of what the silence says, so that it stays the same when the configuration is loaded
// again. The error is a *SameIDError.
func NameStatics(all []*Silence) error {
	taken := make(map[string]int)
	for i, s := range all {
		if s.ID == "" {
			continue
		}
		if first, ok := taken[s.ID]; ok {
			return &SameIDError{ID: s.ID, First: first, Second: i}
		}
		taken[s.ID] = i
	}
	repeated := make(map[string]int)
	for i, s := range all {
		if s.ID != "" {
			continue
		}
		sum := sha256.Sum256(append(s.appendContent([]byte("{")), '}'))
		base := "static-" + hex.EncodeToString(sum[:8])
		id := base
		for {
			if _, ok := taken[id]; !ok {
				break
			}
			repeated[base] = max(repeated[base], 1) + 1
			id = base + "-" + strconv.Itoa(repeated[base])
		}
		s.ID, taken[id] = id, i
	}
	return nil
}
