package evtx

// name is that of an element, an attribute or an entity, or of a Data element.
type name struct {
	text string // as it stands between the quotes of a JSON key
	role role
}

// role says which names are rendered in a way of their own.
type role uint8

const (
	ordinary  role = iota
	data           // Data: a value of an event
	container      // EventData, UserData: what holds them
	called         // Name: the attribute that gives a Data element its key
)

var roles = map[string]role{"Data": data, "EventData": container, "UserData": container, "Name": called}

// maxNames is how many bytes of names are remembered. Beyond it a name is made anew each time.
const maxNames = 1 << 20

// names remembers names, so that equal ones are one.
type names struct {
	coded map[string]*name // by their UTF-16
	known map[string]*name // by their text
	size  int
}

func newNames() *names {
	return &names{coded: make(map[string]*name), known: make(map[string]*name)}
}

// utf16 returns the name that b spells in UTF-16.
func (n *names) utf16(b []byte) *name {
	if known := n.coded[string(b)]; known != nil {
		return known
	}
	made := n.text(appendUTF16(nil, b))
	if n.reserve(len(b)) {
		n.coded[string(b)] = made
	}
	return made
}

// text returns the name with a text.
func (n *names) text(b []byte) *name {
	if known := n.known[string(b)]; known != nil {
		return known
	}
	made := &name{text: string(b), role: roles[string(b)]}
	if n.reserve(len(b)) {
		n.known[made.text] = made
	}
	return made
}

// reserve reports whether one more name is remembered.
func (n *names) reserve(size int) bool {
	const beside = 64 // what a name takes beside its text
	if n.size > maxNames {
		return false
	}
	n.size += size + beside
	return true
}

// trim forgets all names when there is no room for more. Names of before are not equal to
// those of later.
func (n *names) trim() {
	if n.size > maxNames {
		clear(n.coded)
		clear(n.known)
		n.size = 0
	}
}
