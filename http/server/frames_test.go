package server

import (
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// frame is a frame of HTTP/2 on stream 1, or 0 for those of the connection.
func frame(kind, flags byte, payload string) string {
	stream := byte(1)
	if kind != frameData && kind != frameHeaders && kind != frameContinuation {
		stream = 0
	}
	n := len(payload)
	return string([]byte{byte(n >> 16), byte(n >> 8), byte(n), kind, flags, 0, 0, 0, stream}) + payload
}

const (
	framePing = 0x6
	endStream = 0x1

	get     = "\x82\x86\x84\x41\x01x" // the static table's GET http / and an authority
	postAny = "\x83\x86\x84\x41\x01x"
)

var (
	hello    = preface + frame(frameSettings, 0, "")
	greeting = hello + frame(frameSettings, flagAck, "")
	upload   = greeting + frame(frameHeaders, flagEndHeaders, postAny)
)

// Whoever keeps the server waiting over HTTP/2 is cut off as over HTTP/1.
func TestHTTP2ConnectionsThatDoNotGoOnAreClosed(t *testing.T) {
	bytewise := func(text string, every time.Duration) func(io.Writer) {
		return func(c io.Writer) {
			for i := range len(text) {
				if _, err := io.WriteString(c, text[i:i+1]); err != nil {
					return
				}
				time.Sleep(every)
			}
		}
	}
	again := func(text string, every time.Duration, times int) func(io.Writer) {
		return func(c io.Writer) {
			for range times {
				time.Sleep(every)
				if _, err := io.WriteString(c, text); err != nil {
					return
				}
			}
		}
	}
	const behind = readTimeout + discardTime
	for _, tc := range []struct {
		name string
		sent string
		then func(c io.Writer)
		// after is when the connection is closed.
		after time.Duration
		want  string
	}{
		{"half a preface", preface[:20], nil, headerTimeout, "header_timeout 1"},
		{"the first line of a preface", preface[:14], nil, headerTimeout, "header_timeout 1"},
		{"a preface byte by byte", "", bytewise(preface, time.Second), headerTimeout, "header_timeout 1"},
		{"a preface and nothing more", preface, nil, firstFrame, "header_timeout 1"},
		{"a preface and half of its settings", preface + hello[len(preface):len(preface)+5], nil, firstFrame, "header_timeout 1"},
		{"settings byte by byte", preface, bytewise(frame(frameSettings, 0, "\x00\x03\x00\x00\x00\x64"), 150*time.Millisecond), firstFrame, "header_timeout 1"},
		{"settings that are not acknowledged", hello, nil, headerTimeout, "header_timeout 1"},
		{"pings instead of an acknowledgement", hello, again(frame(framePing, 0, "12345678"), time.Second, 20), headerTimeout, "header_timeout 1"},
		{"a request instead of an acknowledgement", hello + frame(frameHeaders, flagEndHeaders|endStream, get), nil, headerTimeout, "header_timeout 1"},
		{"a header that is not ended", greeting + frame(frameHeaders, endStream, get), nil, headerTimeout, "header_timeout 1"},
		{"a header that is not ended, behind a request", greeting + frame(frameHeaders, flagEndHeaders|endStream, get) + frame(frameHeaders, endStream, get), nil, headerTimeout, "header_timeout 1"},
		{"a header in pieces without an end", greeting + frame(frameHeaders, endStream, get), again(frame(frameContinuation, 0, ""), time.Second, 20), headerTimeout, "header_timeout 1"},
		{"a header byte by byte", greeting, bytewise(frame(frameHeaders, flagEndHeaders|endStream, get), time.Second), headerTimeout, "header_timeout 1"},
		{"a trailer that is not ended", upload + frame(frameData, 0, "ab") + frame(frameHeaders, endStream, ""), nil, headerTimeout, "header_timeout 1"},
		{"half of a frame's head", greeting + frame(framePing, 0, "12345678")[:4], nil, headerTimeout, "header_timeout 1"},
		{"half a ping", greeting + frame(framePing, 0, "12345678")[:12], nil, headerTimeout, "header_timeout 1"},
		{"half a frame nobody knows", greeting + frame(0x77, 0, "12345678")[:12], nil, headerTimeout, "header_timeout 1"},
		{"a body that does not begin", upload, nil, readTimeout + idleTimeout, "read_timeout 1"},
		{"half a frame of a body", upload + frame(frameData, 0, "12345678")[:12], nil, behind, "read_timeout 1"},
		{"half a frame of a body that nobody reads", greeting + frame(frameHeaders, flagEndHeaders, "\x83\x86\x04\x05/busy\x41\x01x") + frame(frameData, 0, "12345678")[:12], nil, behind, "read_timeout 1"},
		{"a body that goes on in time", upload, func(c io.Writer) {
			again(frame(frameData, 0, "x"), readTimeout-time.Second, 20)(c)
			io.WriteString(c, frame(frameData, endStream, "x"))
		}, 20*(readTimeout-time.Second) + idleTimeout, ""},
		{"a large frame of a body that goes on in time", greeting + frame(frameHeaders, flagEndHeaders, "\x83\x86\x04\x05/busy\x41\x01x"), func(c io.Writer) {
			large := frame(frameData, endStream, "12345678")
			io.WriteString(c, large[:frameHead])
			bytewise(large[frameHead:], readTimeout-time.Second)(c)
		}, 17*(readTimeout-time.Second) + idleTimeout, ""},
		{"an idle connection ends without a count", greeting, nil, idleTimeout, ""},
		{"one that is idle behind a request", greeting + frame(frameHeaders, flagEndHeaders|endStream, get), nil, idleTimeout, ""},
		{"pings do not keep a connection", greeting, again(frame(framePing, 0, "12345678"), 9*time.Second, 20), idleTimeout, ""},
	} {
		bothWays(t, tc.name, func(t *testing.T, secured bool) {
			t.Helper()
			s, p := serveInTime(t, secured, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/busy" {
					time.Sleep(17 * (readTimeout - time.Second))
				}
				io.Copy(io.Discard, r.Body)
				io.WriteString(w, "ok")
			})
			c := p.dial(t)
			begin := time.Now()
			go func(c net.Conn) {
				io.WriteString(c, tc.sent)
				if tc.then != nil {
					tc.then(c)
				}
			}(c)
			io.Copy(io.Discard, c)
			if took := time.Since(begin); took < tc.after || took > tc.after+2*discardTime {
				t.Errorf("ended after %s, want %s", took, tc.after)
			}
			time.Sleep(20 * readTimeout) // for clients and handlers that wait
			if got := s.closedFor(t); got != tc.want {
				t.Errorf("counted %q, want %q", got, tc.want)
			}
		})
	}
}

// A deadline that was met does not end a connection that goes on.
func TestAnHTTP2ConnectionThatGoesOnStays(t *testing.T) {
	bothWays(t, "many requests", func(t *testing.T, secured bool) {
		t.Helper()
		served := 0
		s, p := serveInTime(t, secured, func(http.ResponseWriter, *http.Request) { served++ })
		c := p.dial(t)
		go io.Copy(io.Discard, c)
		io.WriteString(c, greeting)
		const requests = 50
		for i := range requests {
			head := []byte(frame(frameHeaders, endStream, get) + frame(frameContinuation, flagEndHeaders, ""))
			head[8], head[len(head)-1] = byte(2*i+1), byte(2*i+1)
			for _, part := range [][]byte{head[:4], head[4:11], head[11:18], head[18:]} {
				if _, err := c.Write(part); err != nil {
					t.Fatalf("request %d: %v", i, err)
				}
				time.Sleep(headerTimeout/3 - time.Millisecond)
			}
		}
		synctest.Wait()
		if got := s.closedFor(t); served != requests || got != "" {
			t.Errorf("%d requests served, counted %q, want %d and nothing", served, got, requests)
		}
	})
}
