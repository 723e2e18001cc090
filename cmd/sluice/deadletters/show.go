package deadletters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Find returns the record with a number.
func Find(f *Files, number int) (*Record, error) {
	var found *Record
	var damage *Damage
	last, lines := 0, 0
	looking := *f
	looking.Damaged = func(d *Damage) {
		if d.Number == number {
			damage = d
		}
	}
	err := looking.Each(func(r *Record) error {
		lines = max(lines, r.Number)
		if r.Number < number {
			last = r.Number
			return nil
		}
		if r.Number == number {
			found = r
		}
		return ErrStop
	})
	switch {
	case err != nil || found != nil:
		return found, err
	case damage != nil:
		return nil, damage
	case lines > number:
		return nil, fmt.Errorf("there is no dead letter %d: the line is blank", number)
	case last == 0:
		return nil, fmt.Errorf("there is no dead letter %d: there is none at all", number)
	}
	return nil, fmt.Errorf("there is no dead letter %d: the last one is %d", number, last)
}

// AppendText appends the record as people read it: a member a line, and then what it is
// about, indented if that is JSON. Printable replaces what would steer a terminal.
func (r *Record) AppendText(dst []byte, printable func(string) string) []byte {
	line := func(name string, value any) { dst = fmt.Appendf(dst, "%-9s %s\n", name, printable(fmt.Sprint(value))) }
	line("number", r.Number)
	line("place", fmt.Sprintf("%s:%d", r.File, r.Line))
	line("timestamp", r.Time.UTC().Format(time.RFC3339Nano))
	line("stage", r.Stage)
	if r.Delivery() {
		line("sink", r.Sink)
		line("attempts", r.Attempts)
	}
	line("error", r.Error)
	dst = append(dst, "original_event\n"...)
	text := []byte(r.Original)
	var b bytes.Buffer
	if json.Indent(&b, text, "", "  ") == nil {
		text = b.Bytes()
	}
	for l := range bytes.Lines(text) {
		dst = append(append(dst, printable(string(bytes.TrimRight(l, "\r\n")))...), '\n')
	}
	return dst
}
