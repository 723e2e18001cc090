package api

import (
	"slices"
	"strings"
)

const unknownType = "unsupported content-type: "

// What to do instead of sending a body of a type that holds no events.
const (
	hintJSON    = "send JSON with the content type application/json, or one event per line with application/x-ndjson: clients have a setting for the format of a body"
	hintBody    = "send the events as the body itself, not as a part of a form; with curl: --data-binary @FILE"
	hintInflate = "send the events with their own content type and the header Content-Encoding: gzip"
	hintEvents  = "send events: JSON, or one event per line"
)

// refusedTypes are the content types whose bodies hold no events, and what to do.
var refusedTypes = []struct {
	types []string // a trailing slash stands for all types that begin like that
	hint  string
}{
	{[]string{
		"application/msgpack", "application/x-msgpack", "application/vnd.msgpack", "application/x-protobuf", "application/protobuf",
		"application/avro", "application/vnd.apache.avro+binary", "application/cbor",
	}, hintJSON},
	{[]string{"multipart/"}, hintBody},
	{[]string{"application/zip", "application/gzip", "application/zstd"}, hintInflate},
	{[]string{"image/", "audio/", "video/", "application/pdf"}, hintEvents},
}

// contentType says of the value of a Content-Type header whether the body is JSON, which
// may stand on any lines, and what the client should send instead if it is refused.
func contentType(header string) (json bool, hint string) {
	name, _, _ := strings.Cut(header, ";")
	name = strings.ToLower(strings.TrimSpace(name))
	for _, r := range refusedTypes {
		if slices.ContainsFunc(r.types, func(t string) bool {
			return name == t || strings.HasSuffix(t, "/") && strings.HasPrefix(name, t)
		}) {
			return false, r.hint
		}
	}
	return name == "application/json" || strings.HasSuffix(name, "+json"), ""
}
