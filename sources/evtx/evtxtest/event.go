package evtxtest

import "time"

// Event is a record as Windows writes them.
type Event struct {
	Time     time.Time
	Provider string
	Channel  string
	ID       uint16
	Data     []Field
}

// Field is a Data element of an event.
type Field struct {
	Name  string // empty for none
	Value Value
}

// Templates makes the templates of events: one for each list of names.
type Templates map[string]*Element

// Add writes an event.
func (t Templates) Add(l *Log, e Event) {
	key := e.Provider
	for _, f := range e.Data {
		key += "\x00" + f.Name
	}
	if t[key] == nil {
		t[key] = e.template()
	}
	values := []Value{
		Uint16(e.ID), Uint8(5), Uint8(4), Uint16(e.ID), Uint8(0), Hex64(0x8000000000000000), FileTime(e.Time),
		Uint64(l.next), Null(), Uint32(1996), Uint32(2044), String(e.Channel), String("ws01.example.org"), SID(5, 18),
	}
	for _, f := range e.Data {
		values = append(values, f.Value)
	}
	l.Add(e.Time, t[key], values...)
}

func (e *Event) template() *Element {
	data := El("EventData")
	for i, f := range e.Data {
		d := El("Data", Sub{Number: uint16(14 + i)})
		if f.Name != "" {
			d = d.With("Name", Text(f.Name))
		}
		data.Children = append(data.Children, d)
	}
	sub := func(n uint16) Node { return Sub{Number: n} }
	optional := func(n uint16) Node { return Sub{Number: n, Optional: true} }
	root := El("Event",
		El("System",
			El("Provider").With("Name", Text(e.Provider)).With("Guid", Text("{5770385f-c22a-43e0-bf4c-06f5698ffbd9}")),
			El("EventID", optional(0)),
			El("Version", optional(1)),
			El("Level", optional(2)),
			El("Task", optional(3)),
			El("Opcode", optional(4)),
			El("Keywords", optional(5)),
			El("TimeCreated").With("SystemTime", optional(6)),
			El("EventRecordID", optional(7)),
			El("Correlation").With("ActivityID", optional(8)),
			El("Execution").With("ProcessID", optional(9)).With("ThreadID", optional(10)),
			El("Channel", sub(11)),
			El("Computer", sub(12)),
			El("Security").With("UserID", optional(13)),
		),
		data,
	).With("xmlns", Text("http://schemas.microsoft.com/win/2004/08/events/event"))
	return &root
}
