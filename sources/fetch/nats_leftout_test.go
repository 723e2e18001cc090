//go:build no_nats

package fetch_test

import (
	"testing"

	"github.com/sluicehq/sluice/sources/fetch"
)

func TestABuildWithoutNATSSaysSo(t *testing.T) {
	const want = "Fetch|fetch failed: NATS (the feature daemon-nats) is left out of this build, which was made with the tag no_nats"
	c, _ := client(t, fetch.Options{})
	d := declared(t, `{id: a, type: nats, url: "nats://h:4222", subject: x, format: json, refresh: push}`)
	if _, err := c.Fetch(t.Context(), d, nil); !fails(t, err, want) {
		t.Errorf("a fetch: got %v", err)
	}
	if err := c.Subscribe(t.Context(), d, nil); !fails(t, err, want) {
		t.Errorf("a subscription: got %v", err)
	}
	if err := c.Control(t.Context(), "nats://h:4222", "svc.control.resolve", nil); err == nil {
		t.Error("the control subject: no error")
	}
}
