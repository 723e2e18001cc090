package unavailable

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sluicehq/sluice/sigma/timespan"
)

// Validate reports ways to replay that exclude each other.
func (n NATS) Validate(fault func(key string, err error)) {
	atMostOne(fault, map[string]bool{
		"--replay-from-sequence": n.ReplayFromSequence != "", "--replay-from-time": n.ReplayFromTime != "",
		"--replay-from-latest": n.ReplayFromLatest,
	})
	if _, err := strconv.ParseUint(n.ReplayFromSequence, 10, 64); err != nil && n.ReplayFromSequence != "" {
		fault("--replay-from-sequence", fmt.Errorf("%q is no sequence number", n.ReplayFromSequence))
	}
	if _, err := time.Parse(time.RFC3339, n.ReplayFromTime); err != nil && n.ReplayFromTime != "" {
		fault("--replay-from-time", fmt.Errorf("%q is no RFC 3339 time", n.ReplayFromTime))
	}
}

func atMostOne(fault func(key string, err error), given map[string]bool) {
	var names []string
	for name, yes := range given {
		if yes {
			names = append(names, name)
		}
	}
	if len(names) > 1 {
		slices.Sort(names)
		fault(names[0], fmt.Errorf("excludes %s", strings.Join(names[1:], " and ")))
	}
}

// Validate reports bounds that contradict each other.
func (c Capture) Validate(fault func(key string, err error)) {
	if c.TTL < timespan.Seconds(1) {
		fault("ttl", errors.New("must be at least 1s"))
	}
	if c.Enabled && c.SpoolDir == "" {
		fault("spool_dir", errors.New("is required with capture"))
	}
	if c.Enabled && (c.MaxEventBytes > c.MaxBytesPerIncident || c.MaxBytesPerIncident > c.MaxCaptureBytes) {
		fault("max_event_bytes", errors.New("max_event_bytes, max_bytes_per_incident and max_capture_bytes must ascend"))
	}
}
