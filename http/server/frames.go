package server

import "time"

// preface is what a client begins HTTP/2 with.
const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// What is looked at of a frame: RFC 9113, sections 4.1 and 6.
const (
	frameHead = 9

	frameData         = 0x0
	frameHeaders      = 0x1
	frameSettings     = 0x4
	frameContinuation = 0x9

	flagAck        = 0x1
	flagEndHeaders = 0x4
)

// firstFrame is how soon the settings have to follow the preface: shortly before
// net/http would close the connection and tell nobody.
const firstFrame = 1900 * time.Millisecond

// frames follows what a client sends over HTTP/2, and knows what it owes: net/http
// waits for a frame, and for the rest of a header, as long as it takes. The zero value
// does not know the protocol yet.
type frames struct {
	other   bool            // than HTTP/2
	preface int             // bytes of it that have come
	head    [frameHead]byte // of the frame in hand
	have    int             // bytes of that
	left    int             // bytes of its payload that have not come
	first   bool            // a frame has come
	acked   bool            // our settings are acknowledged
	block   bool            // a header has begun and not ended
	begun   time.Time       // when the preface had come
	since   time.Time       // when the frame or the header in hand began, or more of a body came
}

// on reports whether the connection has HTTP/2.
func (f *frames) on() bool { return f.preface == len(preface) }

// read looks at bytes that have come.
func (f *frames) read(p []byte) {
	if f.other {
		return
	}
	for ; f.preface < len(preface); f.preface++ {
		if len(p) == 0 {
			return
		}
		if p[0] != preface[f.preface] {
			f.other = true
			return
		}
		if p = p[1:]; f.preface == len(preface)-1 {
			f.begun = time.Now()
		}
	}
	began := false
	for len(p) > 0 {
		if f.have < frameHead {
			began = began || f.have == 0 && !f.block
			n := copy(f.head[f.have:], p)
			if f.have, p = f.have+n, p[n:]; f.have < frameHead {
				break
			}
			f.left = int(f.head[0])<<16 | int(f.head[1])<<8 | int(f.head[2])
		}
		n := min(f.left, len(p))
		if f.left, p = f.left-n, p[n:]; f.left == 0 {
			f.end()
		}
	}
	if f.open() && (began || f.body()) {
		f.since = time.Now()
	}
}

// end ends the frame in hand.
func (f *frames) end() {
	f.have, f.first = 0, true
	switch flags := f.head[4]; f.head[3] {
	case frameSettings:
		f.acked = f.acked || flags&flagAck != 0
	case frameHeaders, frameContinuation:
		f.block = flags&flagEndHeaders == 0
	}
}

// open reports whether something has begun and not ended.
func (f *frames) open() bool { return f.have > 0 || f.block }

// body reports whether that is a part of a body.
func (f *frames) body() bool { return f.have == frameHead && f.head[3] == frameData }

// due is until when the client has to go on, and what is counted when it does not. It
// has all the time when that is zero.
func (f *frames) due() (by time.Time, r reason) {
	r = headerTimedOut
	switch {
	case !f.on():
		return by, r
	case !f.first:
		by = f.begun.Add(firstFrame)
	case !f.acked:
		by = f.begun.Add(headerTimeout)
	}
	if !f.open() {
		return by, r
	}
	unit, why := f.since.Add(headerTimeout), headerTimedOut
	if f.body() {
		unit, why = f.since.Add(readTimeout+discardTime), readTimedOut // behind the answer to that
	}
	if by.IsZero() || unit.Before(by) {
		by, r = unit, why
	}
	return by, r
}
