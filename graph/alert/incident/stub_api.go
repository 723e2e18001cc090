package incident

type View struct{ list []*Entry }
type Entry struct{ text, id string }

func (v *View) Each(yield func(*Entry) bool) {}
func (v *View) Find(id string) (*Entry, bool) { return nil, false }
func (e *Entry) AppendSnapshot(dst []byte) []byte { return append(dst, e.text...) }

func (v *View) Len() int { return 0 }
func (e *Entry) Ready() bool { return false }
func (e *Entry) ID() string { return "" }
