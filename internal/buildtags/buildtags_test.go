package buildtags

import "testing"

// The test runs in builds of both kinds: the tag alone decides.
func TestFlagsOfWhatIsLeftOut(t *testing.T) {
	for flag, want := range map[string]bool{"nats-token": nats != "", "nats-ack-mode": nats != "", "kafka-user": kafka != "", "kafka-tls-ca": kafka != "", "consumer-group": false, "nats": false, "output": false} {
		if got := LeavesOut(flag); got != want {
			t.Errorf("--%s: left out %t, want %t", flag, got, want)
		}
	}
}
