package nats

import (
	"strconv"

	"github.com/sluicehq/sluice/graph"
)

// names are the reply subjects and message ids of a batch, in one text, which the client
// library copies into what it sends.
type names struct {
	buf   []byte
	text  string
	ends  []int // of each message, where its reply subject and its id end
	last  int   // the last message that is published
	batch int   // how long the part is that all messages of a batch have in common
}

// write makes the names of messages.
func (n *names) write(t *Transport, messages []graph.Message) {
	n.buf, n.ends = n.buf[:0], n.ends[:0]
	n.last = len(messages) - 1
	for n.last > 0 && t.entries[n.last].acked {
		n.last--
	}
	for i := range messages {
		if !t.entries[i].acked {
			place := unmarked
			if n.marked(i) {
				place = marked
			}
			n.buf = append(append(n.buf, t.inbox...), place...)
			n.buf = strconv.AppendUint(n.buf, t.base+uint64(i), 10)
			n.ends = append(n.ends, len(n.buf))
			n.buf = messages[i].AppendID(n.buf, t.label, firstLabel)
		} else {
			n.ends = append(n.ends, len(n.buf))
		}
		n.ends = append(n.ends, len(n.buf))
	}
	n.text = textOf(n.buf)
}

// marked reports whether message i is one at whose acknowledgement those before it have
// mostly come, too: the last one, and some on the way.
func (n *names) marked(i int) bool { return i == n.last || (i+1)%(window/4) == 0 }

// of returns the names of message i.
func (n *names) of(i int) (reply, id string) {
	from := 0
	if i > 0 {
		from = n.ends[2*i-1]
	}
	return n.text[from:n.ends[2*i]], n.text[n.ends[2*i]:n.ends[2*i+1]]
}

// firstLabel is the label of the first sink of this kind.
const firstLabel = "nats"
