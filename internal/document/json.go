package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxJSONDepth bounds how deep lists and mappings may be nested: no configuration is
// deeper, and what walks a document does so by recursion.
const maxJSONDepth = 100

// FromJSON reads one JSON text. The nodes have no line; mappings are in written order.
// Duplicate keys are an error, as they are in YAML.
func FromJSON(data []byte) (*Node, error) {
	r := jsonReader{json.NewDecoder(bytes.NewReader(data))}
	r.UseNumber()
	n, err := r.value(0)
	if err != nil {
		return nil, err
	}
	if _, err := r.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind the value")
	}
	return n, nil
}

type jsonReader struct{ *json.Decoder }

func (r *jsonReader) value(depth int) (*Node, error) {
	token, err := r.Token()
	if err != nil {
		return nil, err
	}
	switch t := token.(type) {
	case json.Delim:
		if depth == maxJSONDepth {
			return nil, fmt.Errorf("nested deeper than %d levels", maxJSONDepth)
		}
		if t == '[' {
			return r.list(depth + 1)
		}
		return r.mapping(depth + 1)
	case bool:
		return scalar(Bool, fmt.Sprint(t)), nil
	case json.Number:
		kind, text, ok := number(t.String())
		if !ok {
			return nil, fmt.Errorf("%s is no number", t)
		}
		return scalar(kind, text), nil
	case string:
		return scalar(String, t), nil
	}
	return scalar(Null, ""), nil
}

func scalar(kind Kind, text string) *Node { return &Node{Kind: kind, Text: text, size: weight(text)} }

func (r *jsonReader) list(depth int) (*Node, error) {
	n := &Node{Kind: List, size: 1}
	for r.More() {
		it, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		n.Items = append(n.Items, it)
		n.size += it.size
	}
	_, err := r.Token()
	return n, err
}

func (r *jsonReader) mapping(depth int) (*Node, error) {
	var entries []Entry
	seen := make(map[string]bool)
	for r.More() {
		token, err := r.Token()
		if err != nil {
			return nil, err
		}
		key, _ := token.(string)
		if seen[key] {
			return nil, fmt.Errorf("key %q stands twice in one object", key)
		}
		seen[key] = true
		v, err := r.value(depth)
		if err != nil {
			return nil, err
		}
		entries = append(entries, Entry{scalar(String, key), v})
	}
	_, err := r.Token()
	return Mapping(0, entries), err
}
