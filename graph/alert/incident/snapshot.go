package incident

import (
	"encoding/json"
	"io"
	"strconv"

	"github.com/sluicehq/sluice/sigma/ast"
	"github.com/sluicehq/sluice/sigma/event"
)

// stored is an incident as it is kept for a restart.
type stored struct {
	ID         string              `json:"id"`
	FirstSeen  int64               `json:"first_seen"`
	LastSeen   int64               `json:"last_seen"`
	Emitted    int64               `json:"last_emitted"`
	Content    int64               `json:"last_content"`
	Opened     bool                `json:"opened"`
	Dirty      bool                `json:"dirty"`
	MaxLevel   ast.Level           `json:"max_level"`
	Results    int64               `json:"result_count"`
	RuleCounts map[string]int64    `json:"rule_counts"`
	GroupKey   *string             `json:"group_key"`
	GroupBy    json.RawMessage     `json:"group_by"`
	Entities   map[string][]string `json:"entities"` // of its set, which lead to it
	Foreign    map[string][]string `json:"guests"`   // of its set, which do not
	Beyond     map[string][]string `json:"beyond"`   // which lead to it, but did not fit into its set
	Refs       []struct {
		Rule  string    `json:"rule"`
		Level ast.Level `json:"level"`
	} `json:"refs"`
	Lines  []json.RawMessage `json:"results"`
	Newest json.RawMessage   `json:"newest"`
}

// piece is how much is written at a time.
const piece = 32 << 10

// Encode writes the incidents as a JSON array for Restore.
func (v *View) Encode(w io.Writer) error {
	out := append(make([]byte, 0, piece+piece/2), '[')
	for i, c := range v.sorted() {
		if i > 0 {
			out = append(out, ',')
		}
		out = c.appendStored(out, v.layout)
		if len(out) < piece {
			continue
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
		out = out[:0]
	}
	_, err := w.Write(append(out, ']'))
	return err
}

func (c *content) appendStored(dst []byte, l *layout) []byte {
	number := func(member string, n int64) {
		dst = strconv.AppendInt(append(dst, member...), n, 10)
	}
	dst = event.AppendQuoted(append(dst, `{"id":`...), c.id)
	number(`,"first_seen":`, c.first)
	number(`,"last_seen":`, c.last)
	number(`,"last_emitted":`, c.emitted)
	number(`,"last_content":`, c.news)
	dst = strconv.AppendBool(append(dst, `,"opened":`...), c.opened)
	dst = strconv.AppendBool(append(dst, `,"dirty":`...), c.dirty)
	dst = event.AppendQuoted(append(dst, `,"max_level":`...), c.level.String())
	number(`,"result_count":`, c.results)
	dst = c.appendCounts(append(dst, `,"rule_counts":`...))
	if c.by != nil {
		dst = event.AppendQuoted(append(dst, `,"group_key":`...), c.by.key)
		dst = append(append(dst, `,"group_by":`...), c.by.object...)
	}
	dst = appendKeys(dst, `,"entities":`, c.owned, l)
	if c.more != nil {
		dst = appendKeys(dst, `,"guests":`, c.more.foreign, l)
		dst = appendKeys(dst, `,"beyond":`, c.more.beyond, l)
	}
	dst = c.appendRefs(append(dst, `,"refs":`...))
	dst = c.appendLines(append(dst, `,"results":`...))
	return append(append(append(dst, `,"newest":`...), c.samples.newest...), '}')
}

// appendKeys appends a member: an object of selectors by name and their values, in the order
// in which the incident took them.
func appendKeys(dst []byte, member string, keys []string, l *layout) []byte {
	if len(keys) == 0 {
		return dst
	}
	texts := make([][]string, len(l.names))
	for _, key := range keys {
		selector, text := parse(key)
		texts[selector] = append(texts[selector], text)
	}
	dst = append(append(dst, member...), '{')
	first := true
	for _, selector := range l.byName {
		all := texts[selector]
		if len(all) == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = append(event.AppendQuoted(dst, l.names[selector]), ':')
		dst = appendTexts(dst, all)
	}
	return append(dst, '}')
}
