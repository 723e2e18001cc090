package api

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/sources/ndjson"
)

func TestIngest(t *testing.T) {
	for _, tc := range []struct {
		row
		headers []string
		n       int
		err     error
		as      ndjson.Options
	}{
		{row: row{"lines are admitted", "POST", "/api/v1/events", "{}\n\nx", 200, `{"accepted":3}`}, n: 3},
		{row: row{"an empty body", "POST", "/api/v1/events", "", 200, `{"accepted":0}`}},
		{row: row{"bytes that are no UTF-8 pass", "POST", "/api/v1/events", "\xff\xfe", 200, `{"accepted":1}`}, n: 1},
		{row: row{"identity is no encoding", "POST", "/api/v1/events", "x", 200, `{"accepted":1}`}, n: 1, headers: []string{"Content-Encoding", "Identity"}},
		{
			row: row{"gzip in any letter case", "POST", "/api/v1/events", "z", 200, `{"accepted":2}`}, n: 2,
			headers: []string{"Content-Encoding", "GZip"}, as: ndjson.Options{Gzip: true},
		},
		{row: row{"another encoding", "POST", "/api/v1/events", "z", 415, `{"error":"unsupported content-encoding: br"}`}, headers: []string{"Content-Encoding", "br"}},
		{
			row:     row{"two encodings", "POST", "/api/v1/events", "z", 415, `{"error":"unsupported content-encoding: gzip, gzip"}`},
			headers: []string{"Content-Encoding", "gzip", "Content-Encoding", "gzip"},
		},
		{
			row: row{"JSON of any content type that says so", "POST", "/api/v1/events", "x", 200, `{"accepted":2}`}, n: 2,
			headers: []string{"Content-Type", "application/vnd.acme+JSON; charset=utf-8"}, as: ndjson.Options{JSON: true},
		},
		{
			row: row{"JSON and gzip", "POST", "/api/v1/events", "x", 200, `{"accepted":2}`}, n: 2,
			headers: []string{"Content-Type", "application/json", "Content-Encoding", "gzip"}, as: ndjson.Options{JSON: true, Gzip: true},
		},
		{row: row{"text is lines", "POST", "/api/v1/events", "x", 200, `{"accepted":2}`}, n: 2, headers: []string{"Content-Type", "TEXT/plain"}},
		{row: row{"so are NDJSON", "POST", "/api/v1/events", "x", 200, `{"accepted":2}`}, n: 2, headers: []string{"Content-Type", "application/x-ndjson"}},
		{row: row{"and what curl says it sends", "POST", "/api/v1/events", "x", 200, `{"accepted":2}`}, n: 2, headers: []string{"Content-Type", "application/x-www-form-urlencoded"}},
		{
			row:     row{"the content type is looked at before the encoding", "POST", "/api/v1/events?commit=maybe", "x", 415, `~{"error":"unsupported content-type: Application/MsgPack","hint":"send JSON `},
			headers: []string{"Content-Type", "Application/MsgPack", "Content-Encoding", "br"},
		},
		{
			row:     row{"a form with parts", "POST", "/api/v1/events", "x", 415, `~{"error":"unsupported content-type: multipart/form-data; boundary=x","hint":"send the events as the body itself`},
			headers: []string{"Content-Type", "multipart/form-data; boundary=x"},
		},
		{row: row{"commit", "POST", "/api/v1/events?commit=true", "x", 200, `{"accepted":2}`}, n: 2, as: ndjson.Options{Commit: true}},
		{row: row{"commit may be false", "POST", "/api/v1/events?commit=false", "x", 200, `{"accepted":2}`}, n: 2},
		{row: row{
			"another value", "POST", "/api/v1/events?commit=maybe", "x", 400,
			`{"error":"query parameter 'commit' must be true or false","accepted":0}`,
		}},
		{row: row{
			"1 is another value", "POST", "/api/v1/events?commit=1", "x", 400,
			`{"error":"query parameter 'commit' must be true or false","accepted":0}`,
		}},
		{row: row{
			"no value is another value", "POST", "/api/v1/events?commit=", "x", 400,
			`{"error":"query parameter 'commit' must be true or false","accepted":0}`,
		}},
		{row: row{
			"given twice", "POST", "/api/v1/events?commit=true&commit=true", "x", 400,
			`{"error":"query parameter 'commit' is given more than once","accepted":0}`,
		}},
		{row: row{"unknown parameters", "POST", "/api/v1/events?x=1&x=2", "x", 200, `{"accepted":0}`}},
		{row: row{
			"a line above 1 MiB", "POST", "/api/v1/events", "x", 413,
			`{"error":"line exceeds maximum size","max_bytes":1048576,"accepted":1,"hint":"leave out the line that is too long and go on behind line 1, the last that was accepted"}`,
		}, n: 1, err: fmt.Errorf("line 2: %w", ndjson.ErrLineTooLong)},
		{row: row{
			"an inflated body above the cap", "POST", "/api/v1/events", "x", 413,
			`{"error":"request body exceeds maximum size","max_bytes":20971520,"accepted":7,"hint":"split the body and go on behind line 7, the last that was accepted, or raise daemon.input.http.max_body_bytes, which counts inflated bytes"}`,
		}, n: 7, err: ndjson.ErrBodyTooLarge},
		{row: row{"draining", "POST", "/api/v1/events", "x", 503, `{"error":"event channel closed","accepted":4}`}, n: 4, err: ndjson.ErrDraining},
		{row: row{
			"the commit deadline", "POST", "/api/v1/events?commit=true", "x", 503,
			`~{"error":"commit deadline passed","accepted":2,"hint":"`,
		}, n: 2, err: ndjson.ErrCommitDeadline, as: ndjson.Options{Commit: true}},
		{row: row{
			"a body that cannot be read", "POST", "/api/v1/events", "x", 400,
			`{"error":"read request body: unexpected EOF","accepted":1}`,
		}, n: 1, err: &ndjson.BodyError{Err: io.ErrUnexpectedEOF}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &daemon{accepted: tc.n, ingestErr: tc.err}
			s := start(t, d).everything(d)
			tc.check(t, s, tc.headers...)
			if d.ingestedAs != tc.as {
				t.Errorf("got %+v, want %+v", d.ingestedAs, tc.as)
			}
			if read := tc.status != 415 && !strings.Contains(tc.want, "query parameter"); read && d.ingested != tc.body {
				t.Errorf("got body %q, want %q", d.ingested, tc.body)
			} else if !read && d.ingested != "" {
				t.Errorf("got body %q, want nothing read", d.ingested)
			}
		})
	}
}

// The body is the same whatever became of the lines; a header tells a client that has
// waited for them.
func TestAClientThatWaitsIsToldOfLinesThatCouldNotBeDecoded(t *testing.T) {
	for _, tc := range []struct {
		name      string
		undecoded int
		err       error
		want      string
	}{
		{"none", 0, nil, ""},
		{"some", 3, nil, "3"},
		{"some, and others have not ended", 2, ndjson.ErrCommitDeadline, "2"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &daemon{accepted: 5, undecoded: tc.undecoded, ingestErr: tc.err}
			s := start(t, d).everything(d)
			resp, err := http.Post(s.url+"/api/v1/events?commit=true", "", strings.NewReader("x"))
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close()
			if got := resp.Header.Get("Sluice-Undecoded-Lines"); got != tc.want {
				t.Errorf("the header says %q, want %q", got, tc.want)
			}
		})
	}
}

func TestContentTypes(t *testing.T) {
	const lines, values = "lines", "values"
	for header, want := range map[string]string{
		"": lines, "text/plain": lines, "application/x-ndjson": lines, "application/octet-stream": lines, "application/jsonlines": lines,
		"application/json": values, " Application/JSON ;charset=utf-8": values, "application/cloudevents+json": values, "application/cloudevents-batch+json": values,
		"multipart/mixed": hintBody, "image/png": hintEvents, "audio/ogg": hintEvents, "video/mp4": hintEvents, "application/pdf": hintEvents,
		"application/msgpack": hintJSON, "application/x-msgpack": hintJSON, "application/vnd.msgpack": hintJSON, "application/x-protobuf": hintJSON,
		"application/protobuf": hintJSON, "application/avro": hintJSON, "application/vnd.apache.avro+binary": hintJSON, "application/cbor": hintJSON,
		"application/zip": hintInflate, "application/gzip": hintInflate, "application/zstd": hintInflate,
	} {
		json, got := contentType(header)
		if got == "" {
			got = lines
			if json {
				got = values
			}
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", header, got, want)
		}
	}
}

func TestIngestOfAnotherInput(t *testing.T) {
	d := &daemon{}
	s := start(t, d)
	s.Mount(Resources{Status: d, Rules: d, Reloader: d, Actors: d, Correlations: d})
	row{"no correlations either", "GET", "/api/v1/correlations", "", 200, `{"correlations":[],"count":0}`}.check(t, s)
	row{"", "GET", "/api/v1/correlations/state", "", 200, `{"correlations":[],"groups":[],"count":0}`}.check(t, s)
	row{
		"the input is not http", "POST", "/api/v1/events?commit=maybe", "{}", 404,
		`{"error":"event ingestion not enabled (start with --input http)"}`,
	}.check(t, s)
	row{"another method is another fault", "GET", "/api/v1/events", "", 405, `{"error":"method not allowed","hint":"events go to POST /api/v1/events"}`}.check(t, s)
}

func TestAChunkedBodyIsBoundedToo(t *testing.T) {
	d := &daemon{}
	s := start(t, d).everything(d)
	body := &endless{left: 3 << 20}
	req := newRequest(t, "PATCH", s.url+"/api/v1/actors/parse", body)
	resp, err := req.do()
	if err != nil {
		t.Fatal(err)
	}
	if want := `{"error":"request body exceeds maximum size","max_bytes":2097152}`; resp.status != 413 || resp.body != want {
		t.Errorf("got %d %s, want 413 %s", resp.status, resp.body, want)
	}
}
