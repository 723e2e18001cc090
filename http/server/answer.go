package server

import (
	"bytes"
	"encoding/json"
	"strings"
)

// plainErrors are the headers of the answers that net/http gives by itself, to
// requests that it cannot read.
const plainErrors = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// inJSON gives an answer of net/http's own the form of every other error.
func inJSON(p []byte) []byte {
	if !bytes.HasPrefix(p, []byte("HTTP/1.1 ")) {
		return p
	}
	line, rest, ok := bytes.Cut(p, []byte("\r\n"))
	if !ok || !bytes.HasPrefix(rest, []byte(plainErrors[2:])) {
		return p
	}
	protocol, status, _ := strings.Cut(string(line), " ")
	code, text, _ := strings.Cut(status, " ")
	if _, after, ok := strings.Cut(text, ": "); ok {
		text = strings.TrimSuffix(text, ": "+after)
		status = code + " " + text
		text = strings.ToLower(text) + ": " + after
	} else {
		body := string(rest[len(plainErrors)-2:])
		if text = strings.ToLower(text); !strings.HasPrefix(strings.ToLower(body), code) {
			text += ": " + body
		}
	}
	answer, err := json.Marshal(struct {
		Error string `json:"error"`
	}{text})
	if err != nil {
		return p
	}
	out := protocol + " " + status + "\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
	return append(append([]byte(out), answer...), '\n')
}
