package otlp

// Array is an attribute that is being written, entry by entry.
type Array struct {
	dst          []byte
	at, reserved int
	place        place
}

// BeginArray begins an attribute that is an array. dst is the Array's until End.
func BeginArray(dst []byte, key string) Array {
	a := Array{at: len(dst), place: place{fieldAttribute, true, key}}
	a.dst, a.reserved = a.place.leave(dst, aboutList)
	return a
}

// End returns dst with the array behind it.
func (a *Array) End() []byte { return a.place.enclose(a.dst, a.at, a.reserved, valueArray) }

// Object is an entry of an Array that is being written, member by member.
type Object struct {
	array        *Array
	at, reserved int
}

// BeginObject begins an entry that is an object. The next one begins after its End.
func (a *Array) BeginObject() Object {
	o := Object{array: a, at: len(a.dst)}
	a.dst, o.reserved = element.leave(a.dst, aboutEntry)
	return o
}

// aboutEntry is the length of an entry that is assumed until it is known.
const aboutEntry = 1 << 6

// Text writes a member that is a text.
func (o *Object) Text(key, value string) {
	o.array.dst = appendString(o.array.dst, member(key), value)
}

// Bool writes a member that is true or false.
func (o *Object) Bool(key string, value bool) {
	o.array.dst = appendBool(o.array.dst, member(key), value)
}

// JSON writes a member that is a JSON value, which counts as nested in two others.
func (o *Object) JSON(key string, value []byte) (err error) {
	o.array.dst, err = appendWhole(o.array.dst, member(key), value, MaxDepth-2)
	return err
}

// End ends the entry.
func (o *Object) End() {
	o.array.dst = element.enclose(o.array.dst, o.at, o.reserved, valueObject)
}
