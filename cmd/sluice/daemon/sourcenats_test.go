//go:build !no_nats

package daemon

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/sluicehq/sluice/actors/sources"
	"github.com/sluicehq/sluice/internal/natsconn/natstest"
)

func TestMessagesReachTheRules(t *testing.T) {
	t.Parallel() // each start waits for a message
	s := natstest.Start(t, nil)
	server, _, _ := strings.Cut(s.Target(""), "/")
	f := newFeed(t, func(string) string {
		return fmt.Sprintf("sources:\n  - {id: f, type: nats, format: json, refresh: push, url: \"nats://%s\", subject: feed.f, timeout: 5s}\n", server)
	})
	f.cfg.Config.Daemon.State.DB = f.path("state")
	f.start()
	if f.detects("mal.exe") {
		t.Fatal("there is a value without a message")
	}
	nc, _ := s.Client()
	defer nc.Close()
	publish := func(nc *nats.Conn, subject, payload string) {
		t.Helper()
		if err := nc.Publish(subject, []byte(payload)); err != nil {
			t.Fatal(err)
		}
		if err := nc.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	f.eventually("the message", func() bool { publish(nc, "feed.f", `["mal"]`); return f.detects("mal.exe") })
	publish(nc, "feed.f", `["evil"`)
	f.eventually("the message that is no value", func() bool {
		return f.series(`svc_source_resolve_errors_total{error_kind="Parse",source_id="f"}`) == 1
	})
	if !f.detects("mal.exe") {
		t.Error("a message that is no value has changed the rules")
	}
	s.Down()
	nc.Close()
	s.Up()
	again, _ := s.Client()
	defer again.Close()
	f.eventually("the message after the server was gone", func() bool { publish(again, "feed.f", `["back"]`); return f.detects("back.exe") })
	if n := f.series("svc_reloads_total"); n != 0 {
		t.Errorf("%g reloads, want none", n)
	}
	f.stop()
	f.start()
	if !f.detects("back.exe") {
		t.Error("the last message is not there after a restart")
	}
}

func TestTheControlSubjectHasSourcesFetched(t *testing.T) {
	s := natstest.Start(t, nil)
	f := newFeed(t, fileFeed(", refresh: on_demand"))
	f.cfg.Config.Daemon.Output.Sinks = []string{"stdout", "nats://" + s.Target("results")}
	f.start()
	nc, _ := s.Client()
	defer nc.Close()
	f.write("f.json", `["evil"]`)
	f.eventually("the request", func() bool {
		if err := nc.Publish(sources.ControlSubject, []byte(`{"source_id":"f"}`)); err != nil {
			t.Fatal(err)
		}
		return f.detects("evil.exe")
	})
}
