package unavailable

import (
	"errors"

	"github.com/sluicehq/sluice/sigma/timespan"
)

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
