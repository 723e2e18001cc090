package graph

// Line is one raw event on its way into parse.
type Line struct {
	Raw        []byte  // without its line ending; not changed while the line has its share of Buffer
	Buffer     *Buffer // what Raw lies in; nil for memory of its own
	Structured bool    // always decoded as one JSON value, whatever the input format says
	Input      uint8   // number of the input that it came from, whose format it has
	Held       uint32  // bytes of memory that the line keeps; 0 when they are those of Raw
	Token      Token
}

// SizeOfLine is the size of a line in a data lane: one unit, and the bytes it keeps.
func SizeOfLine(l Line) (units, bytes int) { return 1, max(len(l.Raw), int(l.Held)) }

// DeadLetter is an original line on its way to the dead letter queue. The queue
// settles the token when the record is written or finally lost.
type DeadLetter struct {
	Original []byte
	Error    string
	Stage    string // "ingest", "delivery" or the name of a stage
	Sink     string // delivery only
	Attempts int    // delivery only
	Token    Token
}

// SizeOfDeadLetter is the size of a dead letter in a data lane.
func SizeOfDeadLetter(d DeadLetter) (units, bytes int) { return 1, len(d.Original) }
