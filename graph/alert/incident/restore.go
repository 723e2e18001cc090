package incident

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"unique"

	"github.com/sluicehq/sluice/sigma/event"
)

// Restore reads what View.Encode wrote into a store without incidents, and returns how many
// there were. How often values have occurred begins anew. After an error the store is empty.
func (s *Store) Restore(array []byte, _ int64) (int, error) {
	if len(array) == 0 {
		return 0, nil
	}
	d := json.NewDecoder(bytes.NewReader(array))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return 0, errors.New("want a list")
	}
	b := restorer{store: s, names: slices.Clone(s.layout.names), known: make(map[string]bool)}
	err := b.all(d)
	if err != nil {
		err = fmt.Errorf("incident %d: %w", len(s.all), err)
		s.Close(func(*Record) {})
	}
	s.layout = (&layout{names: b.names}).renew(&s.config)
	s.view, s.requeue = nil, true
	return len(s.all), err
}

// restorer fills a store.
type restorer struct {
	store *Store
	names []string        // of selectors
	known map[string]bool // ids
}

func (b *restorer) all(d *json.Decoder) error {
	for d.More() {
		var in stored
		if err := d.Decode(&in); err != nil {
			return err
		}
		if err := b.one(&in); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return err
}

// one takes in an incident.
func (b *restorer) one(in *stored) error {
	c := &content{
		id: in.ID, first: in.FirstSeen, last: in.LastSeen, emitted: in.Emitted, news: in.Content, opened: in.Opened, dirty: in.Dirty,
		level: in.MaxLevel, results: in.Results, samples: in.samples(),
	}
	switch {
	case in.ID == "" || b.known[in.ID]:
		return fmt.Errorf("the id '%s' is missing or comes twice", in.ID)
	case !isObject(in.Newest):
		return fmt.Errorf("'%s' has no newest result", in.ID)
	case in.GroupKey != nil && (b.store.keys[*in.GroupKey] != nil || !isObject(in.GroupBy)):
		return fmt.Errorf("the group of '%s' comes twice, or has no values", in.ID)
	}
	for _, rule := range slices.Sorted(maps.Keys(in.RuleCounts)) {
		c.counts = append(c.counts, count{unique.Make(rule), in.RuleCounts[rule]})
	}
	b.known[in.ID] = true
	b.store.insert(c)
	b.store.hold(c, c.samples.size())
	if in.GroupKey != nil {
		c.by = &group{*in.GroupKey, event.AppendCompact(nil, in.GroupBy)}
		b.store.hold(c, c.by.size())
		b.store.keys[c.by.key], b.store.ids[c.id] = c.node, c.node
	}
	return b.values(c, in)
}

func isObject(json []byte) bool { return len(json) > 0 && json[0] == '{' }

// values takes in the values of an incident.
func (b *restorer) values(c *content, in *stored) error {
	for _, key := range b.read(in.Entities) {
		if err := b.lead(c, key, uint32(len(c.owned))); err != nil {
			return err
		}
		c.owned = append(c.owned, key)
		b.store.hold(c, len(key))
	}
	if foreign := b.read(in.Foreign); len(foreign) > 0 {
		c.rest().foreign = foreign
		for _, key := range foreign {
			b.store.hold(c, len(key))
		}
	}
	for _, key := range b.read(in.Beyond) {
		m := c.rest()
		if err := b.lead(c, key, uint32(len(m.beyond))|outside); err != nil {
			return err
		}
		b.store.leaveOut(c, key)
	}
	return nil
}

// read makes keys of selectors and texts.
func (b *restorer) read(values map[string][]string) (keys []string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		var number int
		b.names, number = numbered(b.names, name)
		prefix := string(binary.AppendUvarint(nil, uint64(number)))
		for _, text := range values[name] {
			keys = append(keys, prefix+text)
		}
	}
	return keys
}

// lead makes a key lead to an incident.
func (b *restorer) lead(c *content, key string, place uint32) error {
	b.store.text = append(b.store.text[:0], key...)
	hash := b.store.values.hash(b.store.text)
	if b.store.find(hash, b.store.text) != nil {
		_, text := parse(key)
		return fmt.Errorf("the value '%s' of '%s' leads to two incidents", text, c.id)
	}
	b.store.values.add(hash, slot{owner: c.node, place: place})
	return nil
}

// size is how many bytes the results hold.
func (k *samples) size() int {
	n := k.apart
	for _, line := range k.lines {
		n += cap(line)
	}
	return n
}

func (in *stored) samples() *samples {
	k := &samples{newest: in.Newest}
	for _, r := range in.Refs {
		k.refs = append(k.refs, unique.Make(ref{r.Rule, r.Level}))
	}
	for _, line := range in.Lines {
		k.lines = append(k.lines, line)
	}
	if n := len(k.lines); n > 0 && bytes.Equal(k.lines[n-1], k.newest) {
		k.newest = k.lines[n-1]
		return k
	}
	k.apart = cap(k.newest)
	return k
}
