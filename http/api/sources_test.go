package api

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/sluicehq/sluice/actors/mailbox"
	"github.com/sluicehq/sluice/actors/sources"
)

// feeds are dynamic sources; nil has none.
type feeds struct {
	list      []sources.Entry
	busy      bool // fetches run
	err       error
	resolved  []string // ids that were asked for, "all" for all
	forgotten []string
}

func twoFeeds() *feeds {
	return &feeds{list: []sources.Entry{
		{SourceID: "s", Pipeline: "external:sources.yml", Type: "Http", Refresh: "Interval(300s)", Required: true},
		{SourceID: "a", Pipeline: "external:more/<a>.yml", Type: "File", Refresh: "Watch"},
	}}
}

func (f *feeds) List() []sources.Entry {
	if f == nil {
		return nil
	}
	return f.list
}

func (f *feeds) Resolve(_ context.Context, id string) (sources.Resolution, error) {
	switch {
	case f == nil:
		return sources.None, nil
	case id != "" && !slices.ContainsFunc(f.list, func(e sources.Entry) bool { return e.SourceID == id }):
		return sources.Unknown, nil
	case f.err != nil:
		return "", f.err
	case f.busy:
		return sources.Pending, nil
	}
	if id == "" {
		id = "all"
	}
	f.resolved = append(f.resolved, id)
	return sources.Accepted, nil
}

func (f *feeds) Invalidate(_ context.Context, id string) error {
	if f == nil || f.err != nil {
		return f.refusal()
	}
	f.forgotten = append(f.forgotten, id)
	return nil
}

func (f *feeds) refusal() error {
	if f == nil {
		return nil
	}
	return f.err
}

func TestSources(t *testing.T) {
	const (
		path      = "/api/v1/sources"
		triggered = `{"status":"resolve_triggered"}`
		one       = `{"status":"resolve_triggered","source_id":"s"}`
		pending   = `{"status":"resolve_already_pending"}`
		none      = `{"error":"no dynamic sources configured"}`
		unknown   = `{"error":"unknown dynamic source 'nope'"}`
		noText    = `{"error":"source_id must be a non-empty string"}`
	)
	without := func(d *daemon) { d.feeds = nil }
	busy := func(d *daemon) { d.feeds.busy = true }
	stuck := func(d *daemon) { d.feeds.err = &sources.StoreError{Source: "s", Err: errors.New("no space left")} }
	full := func(d *daemon) { d.feeds.err = &mailbox.Refusal{Actor: "sources", Reason: mailbox.ErrFull} }
	for _, tc := range []struct {
		row
		adapt    func(*daemon)
		resolved string // what was asked for, with blanks between
	}{
		{row{"in the order of the declarations", "GET", path, "", 200, `{"sources":[{"source_id":"s","pipeline":"external:sources.yml","type":"Http","refresh":"Interval(300s)","required":true},` +
			`{"source_id":"a","pipeline":"external:more/<a>.yml","type":"File","refresh":"Watch","required":false}]}`}, nil, ""},
		{row{"no sources to list", "GET", path, "", 200, `{"sources":[]}`}, without, ""},

		{row{"all, without a body", "POST", path + "/resolve", "", 200, triggered}, nil, "all"},
		{row{"all, with a blank body", "POST", path + "/resolve", " \n", 200, triggered}, nil, "all"},
		{row{"all, with an empty object", "POST", path + "/resolve", "{}", 200, triggered}, nil, "all"},
		{row{"all, with an object that says something else", "POST", path + "/resolve", `{"id":"s","Source_ID":"s"}`, 200, triggered}, nil, "all"},
		{row{"all, while an earlier request for all goes on", "POST", path + "/resolve", "", 429, pending}, busy, ""},
		{row{"all of none", "POST", path + "/resolve", "", 404, none}, without, ""},
		{row{"all of none, with an object", "POST", path + "/resolve", "{}", 404, none}, without, ""},

		{row{"one by its body", "POST", path + "/resolve", `{"source_id":"s"}`, 200, one}, nil, "s"},
		{row{"one by its body that is being fetched", "POST", path + "/resolve", `{"source_id":"s"}`, 429, pending}, busy, ""},
		{row{"one by its body that nobody declares", "POST", path + "/resolve", `{"source_id":"nope"}`, 404, unknown}, nil, ""},
		{row{"one by its body of none", "POST", path + "/resolve", `{"source_id":"nope"}`, 404, none}, without, ""},
		{row{"an empty id", "POST", path + "/resolve", `{"source_id":""}`, 400, noText}, nil, ""},
		{row{"an id that is a number", "POST", path + "/resolve", `{"source_id":1}`, 400, noText}, nil, ""},
		{row{"an id that is null", "POST", path + "/resolve", `{"source_id":null}`, 400, noText}, nil, ""},
		{row{"a body that is no object", "POST", path + "/resolve", `"s"`, 400, `{"error":"body is not a JSON object"}`}, nil, ""},
		{row{"a body that is null", "POST", path + "/resolve", `null`, 400, `{"error":"body is not a JSON object"}`}, nil, ""},
		{row{"a body that is no JSON", "POST", path + "/resolve", `{"source_id"`, 400, `{"error":"body is not a JSON object"}`}, nil, ""},
		{row{"two objects", "POST", path + "/resolve", `{}{}`, 400, `{"error":"body is not one JSON object"}`}, nil, ""},
		{row{"no UTF-8", "POST", path + "/resolve", "\xff", 400, `{"error":"body is not valid UTF-8"}`}, nil, ""},
		{row{"a body that is too large", "POST", path + "/resolve", strings.Repeat(" ", maxBody+1), 413, `{"error":"request body exceeds maximum size","max_bytes":2097152}`}, nil, ""},
		{row{"what is wrong with a body comes before that there is no source", "POST", path + "/resolve", `[]`, 400, `{"error":"body is not a JSON object"}`}, without, ""},
		{row{"that nobody declares a source comes before what is under way", "POST", path + "/resolve", `{"source_id":"nope"}`, 404, unknown}, busy, ""},

		{row{"one by its path", "POST", path + "/resolve/s", "", 200, one}, nil, "s"},
		{row{"a body beside a path is ignored", "POST", path + "/resolve/s", `{"source_id":"a"`, 200, one}, nil, "s"},
		{row{"one by its path that is being fetched", "POST", path + "/resolve/s", "", 429, pending}, busy, ""},
		{row{"one by its path that nobody declares", "POST", path + "/resolve/nope", "", 404, unknown}, nil, ""},
		{row{"one by its path of none", "POST", path + "/resolve/nope", "", 404, none}, without, ""},
		{row{"an id is decoded once", "POST", path + "/resolve/a%2Fb%2520%3C", "", 404, `{"error":"unknown dynamic source 'a/b%20<'"}`}, nil, ""},
		{row{"a path without an id", "POST", path + "/resolve/", "", 404, `{"error":"not found"}`}, nil, ""},

		{row{"an actor with too many questions", "POST", path + "/resolve", "", 503, `~"hint":"Too many requests wait for this actor; try again in a second."`}, full, ""},
		{row{"an actor with too many questions about one", "POST", path + "/resolve/s", "", 503, `~"hint":"Too many`}, full, ""},
		{row{"an actor that cannot forget", "DELETE", path + "/cache/s", "", 503, `~"hint":"Too many`}, full, ""},

		{row{"a value that stays stored", "DELETE", path + "/cache/s", "", 503, `{"error":"the stored value of source 's' is not removed: no space left",` +
			`"hint":"A restart would bring the value back. See to the state database (--state-db), and ask again."}`}, stuck, ""},

		{row{"forgetting", "DELETE", path + "/cache/s", "", 200, `{"status":"invalidated","source_id":"s"}`}, nil, ""},
		{row{"forgetting what nobody declares", "DELETE", path + "/cache/nope", "", 200, `{"status":"invalidated","source_id":"nope"}`}, nil, ""},
		{row{"forgetting without sources", "DELETE", path + "/cache/a%2Fb%2520%3C", "", 200, `{"status":"invalidated","source_id":"a/b%20<"}`}, without, ""},
		{row{"another method", "GET", path + "/resolve", "", 405, `{"error":"method not allowed"}`}, nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d := &daemon{feeds: twoFeeds()}
			if tc.adapt != nil {
				tc.adapt(d)
			}
			s := start(t, d).everything(d)
			tc.check(t, s, "Content-Type", "image/png") // which nobody looks at
			if d.feeds == nil {
				return
			}
			if got := strings.Join(d.feeds.resolved, " "); got != tc.resolved {
				t.Errorf("fetches of %q, want of %q", got, tc.resolved)
			}
			if want := tc.method == "DELETE" && tc.status == 200; (len(d.feeds.forgotten) == 1) != want {
				t.Errorf("forgotten %q", d.feeds.forgotten)
			}
		})
	}
}
