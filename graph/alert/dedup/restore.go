package dedup

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sluicehq/sluice/graph/alert/incident"
	"github.com/sluicehq/sluice/sigma/event"
)

// stored is an alert as View.Encode writes it, without its fingerprint.
type stored struct {
	Key         []*string       `json:"key"`
	FirstSeen   int64           `json:"first_seen"`
	LastSeen    int64           `json:"last_seen"`
	LastEmitted int64           `json:"last_emitted"`
	Fires       int64           `json:"fire_count"`
	Emitted     int64           `json:"emitted_count"`
	Incident    string          `json:"incident_id"`
	Fields      json.RawMessage `json:"fields"`
	Sample      json.RawMessage `json:"sample"`
}

// Restore reads what View.Encode wrote into a store that is empty, and goes on as the store
// would have that was exported. Alerts whose time is over are reported at the next tick.
// Nothing is dropped when there are more than MaxActive. find is called once for each alert
// that names an incident; the zero Ref says that it is gone. After an error the store is
// still empty.
func (s *Store) Restore(d *json.Decoder, find func(id string) incident.Ref) (restored int, err error) {
	if opens, err := d.Token(); err != nil || opens != json.Delim('[') {
		return 0, notStored(err, "they are no array")
	}
	var all []Alert
	var incidents []string
	keys := make(map[string]bool)
	for d.More() {
		var pair [2]json.RawMessage
		if err := d.Decode(&pair); err != nil {
			return 0, notStored(err, "")
		}
		a, in, err := s.read(pair[0], pair[1])
		if err == nil && keys[a.key] {
			err = errors.New("there is another one of the same key")
		}
		if err != nil {
			return 0, fmt.Errorf("stored alert %d: %w", len(all), err)
		}
		keys[a.key] = true
		all, incidents = append(all, a), append(incidents, in)
	}
	if _, err := d.Token(); err != nil {
		return 0, notStored(err, "")
	}
	for i := range all {
		if incidents[i] != "" {
			all[i].in = find(incidents[i])
		}
		s.add(all[i])
	}
	return len(all), nil
}

func notStored(err error, problem string) error {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("they end too early")
	case err == nil:
		err = errors.New(problem)
	}
	return fmt.Errorf("stored alerts: %w", err)
}

// read reads an alert and the id of the incident that it names.
func (s *Store) read(fingerprint, alert json.RawMessage) (a Alert, in string, err error) {
	var shown string
	if err := json.Unmarshal(fingerprint, &shown); err != nil {
		return a, "", fmt.Errorf("fingerprint: %w", err)
	}
	var from stored
	if err := json.Unmarshal(alert, &from); err != nil {
		return a, "", err
	}
	key, err := keyOf(from.Key)
	switch {
	case err != nil:
		return a, "", err
	case strings.Trim(shown, "0123456789abcdef-") != "" || shown == "":
		return a, "", fmt.Errorf("fingerprint '%s' has other characters than hexadecimal digits", shown)
	case from.Fires < 1 || from.Emitted < 1 || from.Emitted > from.Fires:
		return a, "", fmt.Errorf("fire_count %d and emitted_count %d contradict each other", from.Fires, from.Emitted)
	case !isObject(from.Fields):
		return a, "", errors.New("fields is no object")
	case !isObject(from.Sample):
		return a, "", errors.New("sample is no object")
	}
	o := &opening{first: from.FirstSeen, digest: s.digestOfKey(key), key: key, shown: len(shown)}
	o.memory = event.AppendCompact([]byte(shown), from.Fields)
	o.fields = len(o.memory)
	o.memory = event.AppendCompact(slices.Grow(o.memory, len(from.Sample)), from.Sample)
	return Alert{
		lastSeen: from.LastSeen, lastEmitted: from.LastEmitted, fires: from.Fires, emitted: from.Emitted, opening: o,
	}, from.Incident, nil
}

func isObject(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] == '{' }

// keyOf reads what appendKeyJSON appended.
func keyOf(parts []*string) (string, error) {
	if len(parts)%2 == 0 {
		return "", fmt.Errorf("key has %d parts: want that of the rule, and pairs of a selector and a value", len(parts))
	}
	var key []byte
	for i, part := range parts {
		switch {
		case part != nil:
			key = appendPart(key, *part)
		case i == 0 || i%2 == 1:
			return "", fmt.Errorf("key: part %d is null", i)
		default:
			key = appendAbsent(key)
		}
	}
	return string(key), nil
}
