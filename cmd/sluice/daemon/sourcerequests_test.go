package daemon

import (
	"fmt"
	"testing"

	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/sources/fetch"
)

func TestTwoRequestsAtOnceAreOneFetch(t *testing.T) {
	f := newFeed(t, func(dir string) string {
		return fmt.Sprintf("sources:\n  - {id: f, type: command, format: json, command: [sh, -c, 'if [ -e %[1]s/hold ]; then touch %[1]s/begun; while [ -e %[1]s/hold ]; do sleep 0.01; done; fi; cat %[1]s/f.json']}\n", dir)
	}).start()
	f.write("hold", "")
	for i, want := range []sources.Resolution{sources.Accepted, sources.Pending} {
		if got, err := f.sources.Client().Resolve(t.Context(), "f"); got != want || err != nil {
			t.Errorf("request %d: %s, %v; want %s", i+1, got, err, want)
		}
	}
	f.write("f.json", `["evil"]`)
	f.remove("hold")
	f.eventually("the rebuild", func() bool { return f.detects("evil.exe") })
	f.eventually("the end of the fetch", func() bool {
		got, err := f.sources.Client().Resolve(t.Context(), "f")
		return got == sources.Accepted && err == nil
	})
}

func TestRequestsForSourcesThatNobodyDeclares(t *testing.T) {
	f := newFeed(t, fileFeed("")).start()
	c := f.sources.Client()
	if got, err := c.Resolve(t.Context(), "nope"); got != sources.Unknown || err != nil {
		t.Errorf("resolve: %s, %v", got, err)
	}
	if err := c.Invalidate(t.Context(), "nope"); err != nil {
		t.Errorf("invalidate: %v", err)
	}
	var none *sources.Client
	if got, err := none.Resolve(t.Context(), "nope"); got != sources.None || err != nil {
		t.Errorf("without sources: %s, %v", got, err)
	}
	if err := none.Invalidate(t.Context(), "nope"); err != nil || len(none.List()) != 0 {
		t.Errorf("without sources: %v, %v", err, none.List())
	}
}

func TestADroppedValueIsNoFallback(t *testing.T) {
	f := newFeed(t, fileFeed(", required: false"))
	f.cfg.Config.Daemon.State.DB = f.path("state")
	f.start()
	if err := f.sources.Client().Invalidate(t.Context(), "f"); err != nil {
		t.Fatal(err)
	}
	if !f.detects("mal.exe") {
		t.Error("the rules lost their value")
	}
	f.remove("f.json")
	f.stop()
	f.start()
	if f.detects("mal.exe") {
		t.Error("a value that was dropped is there after a restart")
	}
}

func TestTheServerOfTheControlSubject(t *testing.T) {
	declared := []*fetch.Declaration{{Type: fetch.File}, {Type: fetch.NATS, URL: "tls://source:4222"}, {Type: fetch.NATS, URL: "nats://other:4222"}}
	for _, tc := range []struct {
		name          string
		inputs, sinks []string
		declared      []*fetch.Declaration
		want          string
	}{
		{"the input goes first", []string{"http", "nats://in:4222/a.>"}, []string{"nats://out:4222/a"}, declared, "nats://in:4222"},
		{"then the first source", []string{"http"}, []string{"nats://out:4222/a"}, declared, "tls://source:4222"},
		{"then the first sink", []string{"http"}, []string{"stdout", "nats://out:4222/a"}, declared[:1], "nats://out:4222"},
		{"none", []string{"http"}, nil, declared[:1], ""},
	} {
		f := newFeed(t, fileFeed(""))
		f.cfg.Config.Daemon.Output.Sinks = tc.sinks
		if got := controlServer(specs(t, tc.inputs), tc.declared, f.cfg.Config.Daemon.Output); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
}
